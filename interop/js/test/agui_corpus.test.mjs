// One corpus of whole and changed events, through the relay and through the stock client: what the client refuses as
// malformed ends the run here, what it accepts, quietly or with a warning, is carried.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { AbstractAgent } from "@ag-ui/client";
import { AGUIError } from "@ag-ui/core";
import { from } from "rxjs";

import { corpus } from "../lib/corpus.mjs";
import { told } from "../lib/gateway.mjs";

/** Where the two are allowed to differ, and why. A line that matches nothing any more is to be taken out. */
const EXCEPTIONS = [
  {
    of: /: (rawEvent|parentMessageId|outcome|result|messages\.2\.content\.1\.metadata|input\.(forwardedProps|tools\.0\.parameters|resume\.0\.payload)) is null$/,
    client: "accepted",
    relay: "refused",
    why: "1.0 has no null there; the client turns what older agents sent into an absent member, with a warning",
  },
  {
    of: /: input\.state is null$/,
    client: "accepted",
    relay: "refused",
    why: "the specification's schema has no null there, though the client's own validator lets it through",
  },
  {
    of: /RUN_(STARTED|FINISHED): (threadId|runId) is/,
    client: "refused",
    relay: "accepted",
    why: "whatever stands there, `replay` puts the run's own ids in its place",
  },
];

/** What the stock client makes of the stream, by the same pipeline as behind its HTTP agent. */
async function byTheClient({ before, event, after }) {
  class InMemory extends AbstractAgent {
    run() {
      return from(structuredClone([...before, event, ...after]));
    }
  }
  try {
    await new InMemory().runAgent();
    return "accepted";
  } catch (error) {
    // The order of events is the provider's own affair: funduq validates each event, not the sequence.
    const order = error instanceof AGUIError || /^First \w+_CHUNK must have/.test(error.message);
    return order ? "accepted" : "refused";
  }
}

/** What the relay makes of it, when the demo agent `replay` sends it. */
async function byTheRelay({ before, event, after }) {
  const input = {
    threadId: randomUUID(),
    runId: randomUUID(),
    messages: [{ id: randomUUID(), role: "user", content: "replay" }],
    forwardedProps: { replay: [...before, event, ...after] },
  };
  const response = await fetch(told("FUNDUQ_AGUI_URL").replace(/[^/]+$/, "replay"), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  const body = await response.text();
  assert.equal(response.status, 200, body);
  const events = [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
  const last = events.at(-1);
  if (last.type === "RUN_ERROR" && last.code === "malformed_event") return "refused";
  const mine = (event) => {
    const { threadId, runId, ...rest } = event;
    return /^RUN_(STARTED|FINISHED)$/.test(event.type) ? rest : event;
  };
  const carried = events.some((crossed) => same(mine(crossed), mine(event)));
  return carried ? "accepted" : `changed into ${body}`;
}

function same(a, b) {
  try {
    assert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
}

/** `work` on every item, so many at a time. */
async function each(items, width, work) {
  const queue = [...items];
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
    }),
  );
}

test("the relay and the stock client agree on what is malformed", { timeout: 300_000 }, async (t) => {
  t.mock.method(console, "warn", () => {});
  t.mock.method(console, "error", () => {});
  const surprises = [];
  const met = new Set();
  let [asked, refused] = [0, 0];
  await each(corpus(), 8, async (item) => {
    asked += 1;
    const [client, relay] = [await byTheClient(item), await byTheRelay(item)];
    if (relay === "refused") refused += 1;
    const exception = EXCEPTIONS.find(({ of }) => of.test(item.name));
    if (exception?.client === client && exception?.relay === relay) met.add(exception);
    else if (client !== relay) surprises.push(`${item.name}: the client ${client}, the relay ${relay}`);
  });
  const some = surprises.slice(0, 60).join("\n");
  assert.equal(surprises.length, 0, `${surprises.length} of ${asked} events are judged otherwise:\n${some}`);
  assert.deepEqual(EXCEPTIONS.filter((exception) => !met.has(exception)).map(({ why }) => why), []);
  assert.ok(refused > 1_000, `only ${refused} events were refused: the corpus no longer asks anything`);
});
