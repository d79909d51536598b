// What an agent says beside text, and what no version of AG-UI knows: all of it is relayed.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, recorder, say, warningsOf } from "../lib/agui.mjs";

const TIMEOUT = { timeout: 30_000 };

test("reasoning, state, a step, an activity and a custom event come through", TIMEOUT, async (t) => {
  const agent = agentAt();
  const { result: turn, warnings } = await warningsOf(t, () => say(agent, "think about it"));

  assert.equal(turn.error, undefined);
  assert.deepEqual(warnings, []);
  for (const type of [
    "REASONING_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_END",
    "STATE_SNAPSHOT",
    "STATE_DELTA",
    "STEP_STARTED",
    "STEP_FINISHED",
    "ACTIVITY_SNAPSHOT",
    "CUSTOM",
    "TEXT_MESSAGE_CONTENT",
  ]) {
    assert.ok(turn.types.includes(type), `${type} is missing in ${turn.types}`);
  }
  const roles = agent.messages.map(({ role }) => role);
  for (const role of ["user", "reasoning", "activity", "assistant"]) assert.ok(roles.includes(role), `${role}: ${roles}`);
  const snapshot = turn.events.find(({ type }) => type === "STATE_SNAPSHOT").snapshot;
  assert.notDeepEqual(agent.state, {}, "the client holds the state");
  assert.notDeepEqual(agent.state, snapshot, "the delta changed it");

  const next = await say(agent, "and on");
  assert.equal(next.text, "and on", "a history with reasoning in it is taken back");
});

test("an event of a type that nobody knows is carried, and the client drops it with a warning", TIMEOUT, async (t) => {
  const wire = recorder();
  const agent = agentAt(undefined, { fetch: wire.fetch });
  const { result: turn, warnings } = await warningsOf(t, () => say(agent, "new things"));

  assert.equal(turn.error, undefined);
  assert.equal(turn.finished.outcome, "success");
  assert.equal(warnings.length, 1, `one warning, not ${JSON.stringify(warnings)}`);
  const [, unknown] = warnings[0].match(/Dropping unrecognised event '([^']+)'/);
  assert.ok((await wire.exchanges[0].body).includes(`"${unknown}"`), "it crossed the relay");
  assert.ok(!turn.types.includes(unknown));
});

test("a run that fails says why", TIMEOUT, async () => {
  const turn = await say(agentAt(), "fail now");
  assert.equal(turn.types.at(-1), "RUN_ERROR");
  assert.ok(turn.error.message);
  assert.equal(turn.finished, undefined);
});
