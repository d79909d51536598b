// The stock OpenAI client as an agent uses it: base URL, key, and a fetch that signs. And a run that is held open for it.

import { createHash, createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import OpenAI from "openai";

/** A variable that `cargo xtask interop` sets; without it there is nothing to test. */
export function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the suites with \`cargo xtask interop\``);
  return value;
}

const parties = () => JSON.parse(told("FUNDUQ_KYOK_PARTIES"));

/** The head of a PKCS #8 document of an Ed25519 key (RFC 8410), which the key's 32 bytes follow. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The bytes that a call is signed over, as the contract publishes them. */
function payload(parts) {
  const { contract } = JSON.parse(readFileSync(told("FUNDUQ_CONTRACT"), "utf8"));
  return Buffer.from(contract.surface.payloads["kyok-call"].replace(/\{(\w+)\}/g, (_, name) => parts[name]));
}

/** A fetch that adds funduq's `kyok-call` signature over the bearer, the time and the body as it goes out. */
function signing(token) {
  const seed = Buffer.from(parties().agentSeed, "hex");
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  return (url, init = {}) => {
    const at = Math.floor(Date.now() / 1000);
    const body_sha256_hex = createHash("sha256").update(init.body ?? "").digest("hex");
    const signature = sign(null, payload({ bearer: token, timestamp: at, body_sha256_hex }), key);
    const headers = new Headers(init.headers);
    headers.set("Funduq-Timestamp", String(at));
    headers.set("Funduq-Signature", signature.toString("hex"));
    return fetch(url, { ...init, headers });
  };
}

/** The client of an agent with this token. */
export function openai(token, options = {}) {
  return new OpenAI({ baseURL: `${told("FUNDUQ_URL")}/kyok/v1`, apiKey: token, fetch: signing(token), ...options });
}

/** Begins a run whose caller lends the agent a model, and has `use` spend it; the run ends with it. */
export async function spending(use, { lender = "lenderKey", ...options } = {}) {
  const who = parties();
  const funduq = told("FUNDUQ_URL");
  const agent = `${who.agentKey}/${who.agentName}`;
  const kyok = { llmProvider: { providerKey: who[lender], name: who.offering }, context: { why: "a test" } };
  const messages = [{ id: "m", role: "user", content: "go on" }];
  const answer = await fetch(`${funduq}/agui/${agent}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ threadId: "new", runId: "new", messages, forwardedProps: { kyok } }),
  });
  const events = read(answer.body);
  const { runId } = (await events.next()).value;
  let said;
  do said = (await events.next()).value;
  while (said.type !== "TEXT_MESSAGE_CONTENT");
  try {
    return await use(openai(said.delta, options), said.delta);
  } finally {
    await fetch(`${funduq}/a2a/${agent}/tasks/${runId}:cancel`, {
      method: "POST",
      headers: { "A2A-Version": "1.0", "content-type": "application/json" },
      body: "{}",
    });
    for await (const _rest of events);
  }
}

async function* read(body) {
  let text = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
  }
}

export const saying = (content, members = {}) => ({ model: "any", messages: [{ role: "user", content }], ...members });
