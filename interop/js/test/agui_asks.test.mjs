// A run that ends asking, and what answers it: a resume, a tool's result, and nothing else.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { agentAt, run, say, warningsOf } from "../lib/agui.mjs";

const TIMEOUT = { timeout: 30_000 };

const WEATHER = {
  name: "get_weather",
  description: "The weather at a place",
  parameters: { type: "object", properties: { location: { type: "string" } } },
};

/** An answer that fits the schema of the question, with one word of our own in it. */
function answerTo(schema, word) {
  if (schema.type === "string") return word;
  assert.equal(schema.type, "object", `a question asks for text or an object, not ${JSON.stringify(schema)}`);
  const [name] = Object.entries(schema.properties).find(([, property]) => property.type === "string");
  return { [name]: word };
}

/** The refusal of a resume that answers nothing: three events, nothing dispatched. */
function assertRefused(turn, ...codes) {
  assert.deepEqual(turn.types, ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_ERROR"]);
  assert.ok(codes.includes(turn.error.code), `${turn.error.code} is none of ${codes}`);
  assert.ok(turn.started.runId && turn.started.threadId);
  assert.equal(turn.started.protocolVersion, "1.0");
}

test("a question interrupts the run, and its answer resumes it", TIMEOUT, async (t) => {
  const agent = agentAt();
  const { result: asked, warnings } = await warningsOf(t, () => say(agent, "ask me something"));
  assert.equal(asked.finished.outcome, "interrupt");
  assert.equal(agent.pendingInterrupts.length, 1);
  const [question] = agent.pendingInterrupts;
  assert.ok(question.message, "the question is there to be shown");

  const payload = answerTo(question.responseSchema, "cobalt");
  const resume = [{ interruptId: question.id, status: "resolved", payload }];
  const answered = await run(agent, { resume });
  assert.equal(answered.error, undefined);
  assert.equal(answered.finished.outcome, "success");
  assert.match(answered.text, /cobalt/);
  assert.equal(answered.started.threadId, asked.started.threadId);
  assert.notEqual(answered.started.runId, asked.started.runId);
  assert.deepEqual(agent.pendingInterrupts, []);
  assert.deepEqual(warnings, []);
});

test("an answer is good for one pause: given twice, the second finds nothing open", TIMEOUT, async () => {
  const agent = agentAt();
  await say(agent, "ask me something");
  const [question] = agent.pendingInterrupts;
  const resume = [{ interruptId: question.id, status: "resolved", payload: answerTo(question.responseSchema, "x") }];
  assert.equal((await run(agent, { resume })).finished.outcome, "success");

  assertRefused(await run(agent, { resume }), "no_pending_ask");
});

test("a resume where nothing was asked is refused, and the thread goes on", TIMEOUT, async () => {
  const agent = agentAt();
  const first = await say(agent, "nothing to see");
  const before = agent.messages.map(({ id }) => id);

  const refused = await run(agent, { resume: [{ interruptId: "made-up", status: "resolved", payload: {} }] });
  assertRefused(refused, "no_pending_ask");
  assert.deepEqual(agent.messages.map(({ id }) => id), before, "the snapshot is the history that the client has");

  const next = await say(agent, "onwards");
  assert.equal(next.text, "onwards");
  assert.equal(next.started.threadId, first.started.threadId);
});

test("a resume that names another ask than the open one is refused, and the ask stays open", TIMEOUT, async () => {
  const agent = agentAt();
  await say(agent, "ask me something");
  const [question] = agent.pendingInterrupts;

  // A second client on the thread, which does not know of the question.
  const stranger = agentAt(undefined, { threadId: agent.threadId, initialMessages: agent.messages });
  const refused = await run(stranger, { resume: [{ interruptId: "made-up", status: "resolved", payload: {} }] });
  assertRefused(refused, "asks_not_covered", "no_pending_ask");

  const payload = answerTo(question.responseSchema, "still open");
  const answered = await run(agent, { resume: [{ interruptId: question.id, status: "resolved", payload }] });
  assert.match(answered.text, /still open/);
});

test("a tool of the application is called, and its result is said back", TIMEOUT, async (t) => {
  const agent = agentAt();
  const { result: called, warnings } = await warningsOf(t, () =>
    say(agent, "tool please", { tools: [WEATHER] }),
  );
  assert.equal(called.finished.outcome, "success");
  assert.equal(called.finished.pendingToolCallIds.length, 1);
  const [toolCallId] = called.finished.pendingToolCallIds;
  const call = agent.messages.flatMap((message) => message.toolCalls ?? []).find(({ id }) => id === toolCallId);
  assert.equal(call.function.name, "get_weather");
  assert.doesNotThrow(() => JSON.parse(call.function.arguments));

  agent.addMessage({ id: randomUUID(), role: "tool", toolCallId, content: "hail in Lisbon" });
  const told = await run(agent, { tools: [WEATHER] });
  assert.equal(told.error, undefined);
  assert.match(told.text, /hail in Lisbon/);
  assert.equal(told.started.threadId, called.started.threadId);
  assert.deepEqual(warnings, []);
});

test("the first tool of the run input is the one that is called", TIMEOUT, async () => {
  const agent = agentAt();
  const lookup = { ...WEATHER, name: "look_up" };
  await say(agent, "tool please", { tools: [lookup, WEATHER] });
  const calls = agent.messages.flatMap((message) => message.toolCalls ?? []);
  assert.deepEqual(calls.map((call) => call.function.name), ["look_up"]);
});

test("a tool's result in a resent history answers nothing anew", TIMEOUT, async () => {
  const agent = agentAt();
  const called = await say(agent, "tool please", { tools: [WEATHER] });
  const [toolCallId] = called.finished.pendingToolCallIds;
  agent.addMessage({ id: randomUUID(), role: "tool", toolCallId, content: "hail in Lisbon" });
  await run(agent, { tools: [WEATHER] });

  const next = await say(agent, "plain words again", { tools: [WEATHER] });
  assert.equal(next.text, "plain words again");
  assert.equal(next.started.threadId, called.started.threadId);
});
