// An agent that is silent for longer than the gateway lets a stream be: signs of life go out, and no client minds them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { BINDINGS, clientOf, request, send } from "../lib/a2a.mjs";
import { agentAt, recorder, say, warningsOf } from "../lib/agui.mjs";
import { ownGateway } from "../lib/own.mjs";

const TIMEOUT = { timeout: 60_000 };

/** A fraction of the silence between two words of the demo agent's `slow`. */
const KEEP_ALIVE = ["--keep-alive", "10ms"];
const WORDS = Array.from({ length: 50 }, (_, word) => `${word + 1} `).join("");

/** The silences of a stream, each as how many signs of life it had. */
async function silences(wire) {
  const exchange = wire.exchanges.find(({ headers }) => headers.get("content-type") === "text/event-stream");
  return (await exchange.body).split("\n\n").map((frame) => frame.match(/^(:\n)*/)[0].length / 2);
}

function assertWasSilent(counts) {
  const long = counts.filter((signs) => signs >= 3);
  assert.ok(long.length >= 10, `the wire was to show signs of life in many silences: ${counts}`);
}

describe("over silences of several keep-alives", { concurrency: true }, () => {
  test("the AG-UI client reads a turn whole and has nothing to warn of", TIMEOUT, async (t) => {
    const { aguiUrl } = await ownGateway(t, ...KEEP_ALIVE);
    const wire = recorder();
    const { result: turn, warnings } = await warningsOf(t, () => say(agentAt(aguiUrl, { fetch: wire.fetch }), "slow"));
    assert.equal(turn.error, undefined);
    assert.equal(turn.finished.outcome, "success");
    assert.equal(turn.text, WORDS);
    assert.equal(turn.newMessages[0].content, WORDS);
    assert.deepEqual(warnings, []);
    assertWasSilent(await silences(wire));
  });

  for (const binding of BINDINGS) {
    test(`the A2A client reads a task whole (${binding})`, TIMEOUT, async (t) => {
      const { agentCardUrl } = await ownGateway(t, ...KEEP_ALIVE);
      const wire = recorder();
      const turn = await send(await clientOf(agentCardUrl, binding, wire.fetch), request("slow"));
      assert.equal(turn.state, "COMPLETED");
      assert.equal(turn.text, WORDS);
      assertWasSilent(await silences(wire));
    });
  }
});
