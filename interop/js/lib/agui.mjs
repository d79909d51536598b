// Turns with the stock AG-UI client: what an application would write, and a record of what the client reported.

import { randomUUID } from "node:crypto";

import { HttpAgent } from "@ag-ui/client";

import { told } from "./gateway.mjs";

/** The stock client, pointed at the demo agent unless told otherwise. */
export function agentAt(url = told("FUNDUQ_AGUI_URL"), config = {}) {
  return new HttpAgent({ url, ...config });
}

/** A user message, as an application adds it, and the run that answers it. */
export function say(agent, text, parameters) {
  agent.addMessage({ id: randomUUID(), role: "user", content: text });
  return run(agent, parameters);
}

/**
 * One run. The application goes on in the thread that the run was answered in, which is funduq's to name.
 * What is returned is only what the client handed to its subscriber.
 */
export async function run(agent, parameters = {}) {
  const seen = { events: [], text: "", deltas: [], started: undefined, finished: undefined, error: undefined };
  const { newMessages } = await agent.runAgent(parameters, {
    onEvent: ({ event }) => void seen.events.push(event),
    onRunStartedEvent: ({ event }) => void (seen.started = event),
    onRunFinishedEvent: ({ outcome, interrupts, pendingToolCallIds }) =>
      void (seen.finished = { outcome, interrupts, pendingToolCallIds }),
    onRunErrorEvent: ({ event }) => void (seen.error = event),
    onTextMessageContentEvent: ({ event }) => void seen.deltas.push(event.delta),
  });
  if (seen.started) agent.threadId = seen.started.threadId;
  seen.text = seen.deltas.join("");
  return { ...seen, types: seen.events.map((event) => event.type), newMessages };
}

/**
 * A `fetch` for the client's own option of that name that passes everything on and keeps a copy of what crossed:
 * for the promises that are about bytes.
 */
export function recorder() {
  const exchanges = [];
  const record = async (url, init) => {
    const response = await fetch(url, init);
    const [copy, body] = response.body.tee();
    const head = { status: response.status, statusText: response.statusText, headers: response.headers };
    exchanges.push({ request: JSON.parse(init.body), ...head, body: new Response(copy).text() });
    return new Response(body, head);
  };
  return { fetch: record, exchanges };
}

/** The warnings that the client prints while `work` runs; it says with them what it dropped or changed. */
export async function warningsOf(t, work) {
  const warnings = [];
  const mock = t.mock.method(console, "warn", (...words) => void warnings.push(words.join(" ")));
  try {
    return { result: await work(), warnings };
  } finally {
    mock.mock.restore();
  }
}
