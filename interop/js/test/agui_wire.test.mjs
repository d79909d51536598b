// The bytes of the AG-UI door: what stock parsers split at, resume from and stop at.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, recorder, say } from "../lib/agui.mjs";

const TIMEOUT = { timeout: 30_000 };

test("one event a frame, LF only, each frame with an id to come back to", TIMEOUT, async () => {
  const wire = recorder();
  const turn = await say(agentAt(undefined, { fetch: wire.fetch }), "three words long");
  const [exchange] = wire.exchanges;
  assert.equal(exchange.headers.get("content-type"), "text/event-stream");
  assert.equal(exchange.headers.get("cache-control"), "no-cache");

  const body = await exchange.body;
  assert.ok(!body.includes("\r"), "a stock parser never sees the end of a frame that ends in CRLF");
  assert.ok(body.endsWith("\n\n"), "the last frame is whole");
  const frames = body.slice(0, -2).split("\n\n");
  assert.equal(frames.length, turn.events.length);
  let last = -1;
  for (const [index, frame] of frames.entries()) {
    const fields = Object.fromEntries(frame.split("\n").map((line) => line.match(/^(\w+): (.*)$/s).slice(1)));
    assert.deepEqual(Object.keys(fields).sort(), ["data", "id"], frame);
    assert.equal(JSON.parse(fields.data).type, turn.events[index].type);
    const [, run, seq] = fields.id.match(/^(.+):(\d+)$/);
    assert.equal(run, turn.started.runId);
    assert.ok(Number(seq) > last, "the numbers grow");
    last = Number(seq);
  }
});
