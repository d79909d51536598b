// An event of five megabytes crosses whole.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, say, warningsOf } from "../lib/agui.mjs";
import { told } from "../lib/gateway.mjs";

test("an event of 5 MiB comes through", { timeout: 60_000 }, async (t) => {
  const delta = "ü漢🏳️‍🌈 ".repeat(270_000);
  assert.ok(Buffer.byteLength(delta) > 5 * 1024 * 1024);
  const replay = [
    { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" },
    { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta },
    { type: "TEXT_MESSAGE_END", messageId: "m" },
    { type: "RUN_FINISHED", threadId: "t", runId: "r" },
  ];
  const agent = agentAt(told("FUNDUQ_AGUI_URL").replace(/[^/]+$/, "replay"));
  const { result: turn, warnings } = await warningsOf(t, () => say(agent, "replay", { forwardedProps: { replay } }));
  assert.equal(turn.error, undefined);
  assert.ok(turn.text === delta, "not a character was lost");
  assert.deepEqual(warnings, []);
});
