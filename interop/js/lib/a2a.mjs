// Turns with the stock A2A client of JavaScript: what an application would write, and a fold of what it yields.

import { randomUUID } from "node:crypto";

import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";

import { told } from "./gateway.mjs";

export const BINDINGS = ["JSONRPC", "HTTP+JSON"];

const ROLE_USER = 1;

/** The states by name: the client hands out the numbers of the protocol buffers. */
const STATES = ["UNSPECIFIED", "SUBMITTED", "WORKING", "COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED", "REJECTED", "AUTH_REQUIRED"];

/** The stock client, made from the agent's card as its own factory does; `fetchImpl` is the client's own option. */
export function clientOf(cardUrl = told("FUNDUQ_CARD_URL"), binding = "JSONRPC", fetchImpl = undefined) {
  const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })];
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports, preferredTransports: [binding] });
  // The factory resolves the card relative to an address that ends in a slash.
  return new ClientFactory(options).createFromUrl(cardUrl.replace(/\.well-known\/agent-card\.json$/, ""));
}

/** A user message of one part; `fields` are the message's own. */
export function request(text, fields = {}) {
  const content = { $case: "text", value: text };
  const parts = [{ content, filename: "", mediaType: "" }];
  return { message: { messageId: randomUUID(), role: ROLE_USER, parts, ...fields } };
}

/** Sends over a stream and takes in all that comes back. */
export async function send(client, params) {
  return fold(client.sendMessageStream(params));
}

/** Folds a stream of updates into the task as the specification says. */
export async function fold(stream, onEvent = () => {}) {
  const turn = { events: [], deltas: [], task: undefined };
  for await (const { payload } of stream) {
    turn.events.push(payload.$case);
    if (payload.$case === "task") turn.task = payload.value;
    else if (payload.$case === "statusUpdate") turn.task.status = payload.value.status;
    else if (payload.$case === "artifactUpdate") append(turn, payload.value);
    else throw new Error(`an agent behind funduq answers with tasks, not with ${payload.$case}`);
    await onEvent(turn);
  }
  return { ...turn, state: stateOf(turn.task), text: artifactText(turn.task) };
}

function append(turn, { artifact, append }) {
  const delta = textOf(artifact.parts);
  if (delta) turn.deltas.push(delta);
  const known = turn.task.artifacts.find(({ artifactId }) => artifactId === artifact.artifactId);
  if (append !== (known !== undefined)) throw new Error("an artifact begins once, and with append = false");
  if (known) known.parts.push(...artifact.parts);
  else turn.task.artifacts.push(artifact);
}

export const stateOf = (task) => STATES[task.status.state];
export const textOf = (parts) => parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");
export const artifactText = (task) => task.artifacts.map(({ parts }) => textOf(parts)).join("");
