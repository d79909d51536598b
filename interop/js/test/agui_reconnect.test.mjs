// A caller that lost its stream takes it up again where it was: `Last-Event-ID`, neither gap nor double.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { read, told } from "../lib/gateway.mjs";

const TIMEOUT = { timeout: 30_000 };

/** The frames of a stream as they come, each as its id and its event. */
async function* frames(response) {
  assert.equal(response.status, 200);
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    rest += chunk;
    const whole = rest.split("\n\n");
    rest = whole.pop();
    for (const frame of whole) {
      const data = frame.match(/^data: (.*)$/m);
      if (data) yield { id: frame.match(/^id: (.*)$/m)[1], event: JSON.parse(data[1]) };
    }
  }
}

function start(text, signal) {
  const messages = [{ id: randomUUID(), role: "user", content: text }];
  const body = JSON.stringify({ threadId: randomUUID(), runId: randomUUID(), messages });
  return fetch(told("FUNDUQ_AGUI_URL"), { method: "POST", headers: { "content-type": "application/json" }, body, signal });
}

function again(runId, lastEventId) {
  const headers = lastEventId ? { "last-event-id": lastEventId } : {};
  return fetch(`${told("FUNDUQ_AGUI_URL")}/runs/${runId}`, { headers });
}

async function all(response) {
  const seen = [];
  for await (const frame of frames(response)) seen.push(frame);
  return seen;
}

test("a live run goes on where the connection broke", TIMEOUT, async () => {
  const connection = new AbortController();
  const before = [];
  for await (const frame of frames(await start("slow and steady", connection.signal))) {
    before.push(frame);
    if (before.length === 8) break;
  }
  connection.abort();
  const runId = before[0].event.runId;
  const after = await all(await again(runId, before.at(-1).id));

  const seen = [...before, ...after];
  assert.equal(seen.at(-1).event.type, "RUN_FINISHED");
  assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length, "nothing came twice");
  const { events } = await read(`/runs/${runId}/events`);
  assert.deepEqual(seen.map(({ event }) => event), events, "nothing was left out");
});

test("a run that has ended is replayed whole, and from anywhere", TIMEOUT, async () => {
  const live = await all(await start("three words long"));
  const runId = live[0].event.runId;
  assert.deepEqual(await all(await again(runId)), live);
  assert.deepEqual(await all(await again(runId, live[2].id)), live.slice(3));
});

test("a run that there is not is a 404", TIMEOUT, async () => {
  const answer = await again(randomUUID());
  assert.equal(answer.status, 404);
  assert.ok((await answer.json()).error.code);
});
