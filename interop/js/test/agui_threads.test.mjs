// A thread id given out beforehand: the client keeps its own grammar, and the run carries the id that it sent.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, say } from "../lib/agui.mjs";
import { told } from "../lib/gateway.mjs";

test("a client that starts from a given thread id stays in it", { timeout: 30_000 }, async () => {
  const answer = await fetch(`${told("FUNDUQ_AGUI_URL")}/threads`, { method: "POST" });
  assert.ok(answer.ok, `${answer.status}`);
  const { threadId } = await answer.json();

  const agent = agentAt(undefined, { threadId });
  const first = await say(agent, "one");
  assert.equal(first.started.threadId, threadId);
  const second = await say(agent, "two");
  assert.equal(second.started.threadId, threadId);
  assert.equal(agent.threadId, threadId);
});
