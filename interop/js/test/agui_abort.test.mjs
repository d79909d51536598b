// A client that goes away in mid-stream: the run that it left goes on, and its thread takes the next turn.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { agentAt, say } from "../lib/agui.mjs";
import { eventually, read } from "../lib/gateway.mjs";

test("after an abort in mid-stream the next turn is answered, and the run that was left ends as it would", { timeout: 60_000 }, async () => {
  const agent = agentAt();
  agent.addMessage({ id: randomUUID(), role: "user", content: "slow and steady" });
  let left;
  const aborted = agent.runAgent({}, {
    onRunStartedEvent: ({ event }) => void (left = event),
    onTextMessageContentEvent: () => agent.abortRun(),
  });
  await aborted;
  assert.ok(left, "the run had begun");
  agent.threadId = left.threadId;

  const next = await say(agent, "quick");
  assert.equal(next.text, "quick");
  assert.equal(next.started.threadId, left.threadId);

  const types = await eventually(async () => {
    const { events } = await read(`/runs/${left.runId}/events`);
    const types = events.map(({ type }) => type);
    return types.at(-1)?.startsWith("RUN_FINISHED") && types;
  });
  assert.ok(types.filter((type) => type === "TEXT_MESSAGE_CONTENT").length > 10, "nobody stopped it");
});
