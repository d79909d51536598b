// A gateway of a test's own, for what the shared one is not set to.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { told } from "./gateway.mjs";

/** Starts `funduq serve --demo` with these flags beside; says what its ready line says, and ends it after the test. */
export async function ownGateway(t, ...flags) {
  const folder = await mkdtemp(join(tmpdir(), "funduq-"));
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("FUNDUQ_"));
  const words = ["serve", "--demo", "--listen", "127.0.0.1:0", "--drain", "0s", "--log", "warn", "--data-dir", join(folder, "data"), ...flags];
  const gateway = spawn(told("FUNDUQ_BINARY"), words, {
    cwd: folder,
    env: Object.fromEntries(own),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(gateway, "exit");
  t.after(async () => {
    gateway.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true });
  });
  for await (const line of createInterface(gateway.stdout)) {
    if (line.startsWith("ready ")) {
      // What else it says is not for the test, and must not fill the pipe.
      gateway.stdout.resume();
      return JSON.parse(line.slice("ready ".length));
    }
  }
  throw new Error("the gateway ended before it was ready");
}
