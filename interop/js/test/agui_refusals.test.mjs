// Bad input is refused whole, before any stream, with a body that says what was wrong.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, say } from "../lib/agui.mjs";
import { told } from "../lib/gateway.mjs";

const TIMEOUT = { timeout: 30_000 };

/** A POST as no stock client would make it. */
async function post(body, headers = { "content-type": "application/json" }) {
  const response = await fetch(told("FUNDUQ_AGUI_URL"), { method: "POST", headers, body });
  assert.match(response.headers.get("content-type"), /^application\/json/);
  return { status: response.status, ...(await response.json()) };
}

const INPUT = { threadId: "t", runId: "r", messages: [{ id: "m", role: "user", content: "hello" }] };

test("an agent that nobody registered is a 404, which the client throws with its body", TIMEOUT, async (t) => {
  t.mock.method(console, "error", () => {}); // the client prints what it throws
  const url = told("FUNDUQ_AGUI_URL").replace(/[^/]+$/, "nobody");
  await assert.rejects(say(agentAt(url), "hello"), (error) => {
    assert.equal(error.status, 404);
    assert.ok(error.payload.error.code);
    assert.ok(error.payload.error.message);
    return true;
  });
});

test("a body that is not JSON is a 400", TIMEOUT, async () => {
  const { status, error } = await post("{threadId: 'x'}");
  assert.equal(status, 400);
  assert.ok(error.code && error.message);
});

for (const missing of Object.keys(INPUT)) {
  test(`a run input without ${missing} is a 400 that names it`, TIMEOUT, async () => {
    const { [missing]: _, ...rest } = INPUT;
    const { status, error } = await post(JSON.stringify(rest));
    assert.equal(status, 400);
    assert.match(`${error.field} ${error.message}`, new RegExp(missing));
  });
}

test("a body that is nested too deep is a 400", TIMEOUT, async () => {
  const deep = "[".repeat(1_000) + "]".repeat(1_000);
  const { status, error } = await post(`{"threadId":"t","runId":"r","messages":[],"state":${deep}}`);
  assert.equal(status, 400);
  assert.ok(error.code && error.message);
});

test("a body over the limit is a 413 with a body", TIMEOUT, async () => {
  const input = { ...INPUT, state: { padding: "x".repeat(17 * 1024 * 1024) } };
  const { status, error } = await post(JSON.stringify(input));
  assert.equal(status, 413);
  assert.ok(error.code && error.message);
});

test("the nulls of older clients are taken as absent", TIMEOUT, async () => {
  const input = { ...INPUT, tools: null, context: null, state: null, forwardedProps: null, resume: null, parentRunId: null };
  const response = await fetch(told("FUNDUQ_AGUI_URL"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  assert.equal(response.status, 200);
  assert.match(await response.text(), /"RUN_FINISHED"/);
});
