// The stock A2A client of JavaScript over both bindings: card, turns, questions, cancel, list, subscribe, refusals.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import {
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";

import { BINDINGS, artifactText, clientOf, fold, request, send, stateOf, textOf } from "../lib/a2a.mjs";
import { eventually, told } from "../lib/gateway.mjs";

const TEXT = "the quick brown fox jumps over the lazy dog";

/** The same test over each binding. */
function overBoth(name, body) {
  for (const binding of BINDINGS) {
    test(`${name} (${binding})`, { timeout: 30_000 }, async () => body(await clientOf(undefined, binding), binding));
  }
}

overBoth("the card is found below the agent's own address", async (client) => {
  const card = await client.getAgentCard();
  assert.equal(card.name, "echo");
  assert.equal(card.capabilities.streaming, true);
  assert.equal(client.protocolVersion, "1.0");
});

overBoth("a turn comes back word by word, and whole", async (client) => {
  const turn = await send(client, request(TEXT));
  assert.equal(turn.events[0], "task");
  assert.equal(turn.state, "COMPLETED");
  assert.equal(turn.text, TEXT);
  assert.equal(turn.deltas.length, TEXT.split(" ").length);
  const task = await client.getTask({ id: turn.task.id, tenant: "" });
  assert.deepEqual(task.status, turn.task.status);
  assert.equal(artifactText(task), TEXT);
});

overBoth("a turn without a stream comes back whole", async (client) => {
  const task = await client.sendMessage(request(TEXT));
  assert.equal(stateOf(task), "COMPLETED");
  assert.equal(artifactText(task), TEXT);
});

overBoth("a second turn in the same context is a task of its own", async (client) => {
  const first = await send(client, request("first things first"));
  const second = await send(client, request("and then the second", { contextId: first.task.contextId }));
  assert.equal(second.task.contextId, first.task.contextId);
  assert.notEqual(second.task.id, first.task.id);
  assert.equal(second.text, "and then the second");
});

overBoth("a question makes the task wait, and its answer goes on with the same task", async (client) => {
  const asked = await send(client, request("ask me something"));
  assert.equal(asked.state, "INPUT_REQUIRED");
  assert.ok(textOf(asked.task.status.message.parts), "the question can be shown");
  const answered = await send(client, request("cobalt", { taskId: asked.task.id }));
  assert.equal(answered.task.id, asked.task.id);
  assert.equal(answered.state, "COMPLETED");
  assert.match(answered.text, /cobalt/);
});

overBoth("a slow task stops when it is cancelled", async (client) => {
  let asked;
  const stream = client.sendMessageStream(request("slow and steady"));
  const turn = await fold(stream, async ({ task, deltas }) => {
    if (deltas.length === 2) asked ??= await client.cancelTask({ id: task.id, tenant: "", metadata: {} });
  });
  assert.equal(asked.id, turn.task.id);
  assert.equal(turn.state, "CANCELED");
  await assert.rejects(client.cancelTask({ id: turn.task.id, tenant: "", metadata: {} }), TaskNotCancelableError);
});

overBoth("a client that left comes back to its task", async (client) => {
  let left;
  for await (const { payload } of client.sendMessageStream(request("slow and steady"))) {
    if (payload.$case === "task") left = payload.value;
    if (payload.$case === "artifactUpdate") break;
  }
  // One stream per task, and the first is free the moment its connection is gone.
  const turn = await eventually(async () => {
    try {
      return await fold(client.resubscribeTask({ id: left.id, tenant: "" }));
    } catch (error) {
      if (error instanceof UnsupportedOperationError) return undefined;
      throw error;
    }
  });
  assert.equal(turn.state, "COMPLETED");
  const task = await client.getTask({ id: left.id, tenant: "" });
  assert.equal(turn.text, artifactText(task), "neither gap nor double");
});

overBoth("a context is listed in pages, newest first", async (client) => {
  const first = (await send(client, request("one"))).task;
  const ids = [first.id];
  for (const text of ["two", "three"]) ids.unshift((await send(client, request(text, { contextId: first.contextId }))).task.id);
  const listed = [];
  for (let pageToken = ""; ; ) {
    const page = await client.listTasks({ tenant: "", contextId: first.contextId, status: 0, pageSize: 2, pageToken });
    assert.equal(page.totalSize, 3);
    listed.push(...page.tasks.map(({ id }) => id));
    pageToken = page.nextPageToken;
    if (!pageToken) break;
  }
  assert.deepEqual(listed, ids);
});

overBoth("what is refused is refused in A2A's own words", async (client) => {
  const picture = { content: { $case: "raw", value: Buffer.from("PNG") }, mediaType: "image/png", filename: "a.png" };
  const ended = await send(client, request("all said"));
  await assert.rejects(client.getTask({ id: randomUUID(), tenant: "" }), TaskNotFoundError);
  await assert.rejects(send(client, request("x", { taskId: randomUUID() })), TaskNotFoundError);
  await assert.rejects(send(client, request("x", { contextId: randomUUID() })), RequestMalformedError);
  await assert.rejects(send(client, request("x", { taskId: ended.task.id })), UnsupportedOperationError);
  await assert.rejects(send(client, request("", { parts: [picture] })), ContentTypeNotSupportedError);
});

test("an agent that is offline is a failed task without a message", { timeout: 30_000 }, async () => {
  const client = await clientOf(told("FUNDUQ_OFFLINE_CARD_URL"));
  const turn = await send(client, request("anybody home?"));
  assert.equal(turn.state, "FAILED");
  assert.equal(turn.task.status.message, undefined);
});
