// The stock AG-UI client: a turn, the next turn on the same thread, and an agent that is not there.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, recorder, run, say, warningsOf } from "../lib/agui.mjs";
import { read, told } from "../lib/gateway.mjs";

const TIMEOUT = { timeout: 30_000 };

test("a turn comes back word by word, and whole", TIMEOUT, async (t) => {
  const text = "the quick brown fox jumps over the lazy dog";
  const { result: turn, warnings } = await warningsOf(t, () => say(agentAt(), text));

  assert.equal(turn.text, text);
  assert.equal(turn.deltas.length, text.split(" ").length);
  assert.equal(turn.error, undefined);
  assert.equal(turn.finished.outcome, "success");
  assert.equal(turn.types[0], "RUN_STARTED");
  assert.equal(turn.types.at(-1), "RUN_FINISHED");
  assert.equal(turn.newMessages.length, 1);
  assert.equal(turn.newMessages[0].role, "assistant");
  assert.equal(turn.newMessages[0].content, text);
  assert.deepEqual(warnings, [], "the client had nothing to strip, drop or convert");
});

test("a second turn goes on in the same thread, and the record holds each message once", TIMEOUT, async () => {
  const agent = agentAt();
  const first = await say(agent, "first things first");
  const second = await say(agent, "and then the second");

  assert.equal(second.text, "and then the second");
  assert.equal(second.started.threadId, first.started.threadId);
  assert.notEqual(second.started.runId, first.started.runId);
  assert.deepEqual(agent.messages.map((message) => message.role), ["user", "assistant", "user", "assistant"]);

  const { messages } = await read(`/threads/${first.started.threadId}/messages`);
  assert.deepEqual(messages.map(({ id }) => id), agent.messages.map(({ id }) => id), "a caller's ids are kept as sent");
  assert.deepEqual(messages.map(({ content }) => content), agent.messages.map(({ content }) => content));
});

test("a thread id that funduq has not given out is not adopted", TIMEOUT, async () => {
  const agent = agentAt();
  const own = agent.threadId;
  const turn = await say(agent, "hello");
  assert.notEqual(turn.started.threadId, own);
  assert.equal(turn.events.at(-1).threadId, turn.started.threadId, "every event carries funduq's own id");
});

test("an agent that is offline ends the run with an error the client can read", TIMEOUT, async () => {
  const wire = recorder();
  const agent = agentAt(told("FUNDUQ_OFFLINE_AGUI_URL"), { fetch: wire.fetch });
  const turn = await say(agent, "anybody home?");

  assert.equal(wire.exchanges[0].status, 200);
  assert.deepEqual(turn.types, ["RUN_STARTED", "RUN_ERROR"]);
  assert.equal(turn.error.code, "agent_offline");
  assert.ok(turn.error.message, "a person is told in words");
  assert.ok(turn.started.threadId && turn.started.runId);
  assert.equal(turn.started.protocolVersion, "1.0");
  assert.deepEqual(turn.newMessages, []);
});

test("an offline agent does not lose the thread", TIMEOUT, async () => {
  const agent = agentAt(told("FUNDUQ_OFFLINE_AGUI_URL"));
  const first = await say(agent, "anybody home?");
  const second = await run(agent);
  assert.equal(second.started.threadId, first.started.threadId);
  assert.equal(second.error.code, "agent_offline");
});
