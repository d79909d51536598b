// What the harness says of the gateway, and the reads of its record that the tests compare with.

/** A variable that `cargo xtask interop` sets; without it there is nothing to test. */
export function told(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the suites with \`cargo xtask interop\``);
  return value;
}

/** GET of one of the gateway's own routes; anything but 200 is an error with the body in it. */
export async function read(path) {
  const response = await fetch(told("FUNDUQ_URL") + path);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${body}`);
  return JSON.parse(body);
}

/** Asks again and again until `check` is content with the answer; at most `limit` milliseconds. */
export async function eventually(check, limit = 15_000) {
  const deadline = Date.now() + limit;
  for (;;) {
    const answer = await check();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`still not so after ${limit} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
