// Events of every type that AG-UI 1.0 has, each whole, and each with one thing about it changed.
//
// Exhaustive rather than random: every member of every object is left out, set to null and set to a value of each other
// type, and every object is given a member that nobody knows. What is left is the same in every run.

const START = { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" };
const FINISH = { type: "RUN_FINISHED", threadId: "t", runId: "r" };

const text = (type, more = {}) => ({ type, messageId: "m", ...more });
const call = (type, more = {}) => ({ type, toolCallId: "c", ...more });
const sub = (type, more = {}) => ({ type, subagentRunId: "s", ...more });
const usage = [
  {
    provider: "p",
    model: "m",
    inputTokens: 1,
    outputTokens: 2,
    totalTokens: 3,
    reasoningTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
  },
];
const source = (type) => ({ type, value: "https://example.com/x", mimeType: "image/png" });
const toolCall = { id: "tc", type: "function", function: { name: "f", arguments: "{}" }, encryptedValue: "e", metadata: { a: null } };
const parts = [
  { type: "text", id: "1", text: "words", metadata: { a: 1 } },
  { type: "image", id: "2", source: source("url"), metadata: { a: 1 } },
  { type: "audio", source: source("data") },
  { type: "video", source: { ...source("file"), provider: "p" } },
  { type: "document", source: source("url") },
];
const messages = [
  { id: "1", role: "developer", content: "d", name: "n" },
  { id: "2", role: "system", content: "s", metadata: { a: null } },
  { id: "3", role: "user", content: parts, name: "n" },
  { id: "4", role: "user", content: "words" },
  { id: "5", role: "assistant", content: "words", toolCalls: [toolCall], encryptedValue: "e" },
  { id: "6", role: "tool", content: "result", toolCallId: "tc", error: "none" },
  { id: "7", role: "activity", activityType: "plan", content: { steps: 1 } },
  { id: "8", role: "reasoning", content: "hm", encryptedValue: "e" },
];
const patch = [
  { op: "add", path: "/a", value: 1 },
  { op: "replace", path: "/a", value: 2 },
  { op: "test", path: "/a", value: 2 },
  { op: "copy", from: "/a", path: "/b" },
  { op: "move", from: "/b", path: "/c" },
  { op: "remove", path: "/c" },
];
const interrupt = {
  id: "i",
  reason: "question",
  message: "Which?",
  toolCallId: "c",
  responseSchema: { type: "string" },
  expiresAt: "2099-01-01T00:00:00Z",
  metadata: { a: 1 },
};
const input = {
  threadId: "t",
  runId: "r",
  protocolVersion: "1.0",
  parentRunId: "p",
  state: {},
  messages: [{ id: "1", role: "user", content: "words" }],
  tools: [{ name: "f", description: "d", parameters: {}, metadata: { a: 1 } }],
  context: [{ description: "d", value: "v" }],
  forwardedProps: { a: 1 },
  resume: [{ interruptId: "i", status: "resolved", payload: { a: 1 }, metadata: { a: 1 } }],
};
const common = { timestamp: 1_700_000_000_000, rawEvent: { from: "elsewhere" }, metadata: { key: null } };

/** One sample: the event in question, and what must stand around it for a run to be well-formed. */
const sample = (event, { before = [], after = [], start = START, finish = FINISH } = {}) => ({
  before: start ? [start, ...before] : before,
  event,
  after: finish ? [...after, finish] : after,
});

const textStart = text("TEXT_MESSAGE_START", { role: "assistant" });
const textEnd = text("TEXT_MESSAGE_END");
const callStart = call("TOOL_CALL_START", { toolCallName: "f" });
const callEnd = call("TOOL_CALL_END");
const thought = { before: [text("REASONING_START")], after: [text("REASONING_END")] };
const thoughtStart = text("REASONING_MESSAGE_START", { role: "reasoning" });
const thoughtEnd = text("REASONING_MESSAGE_END");

export const SAMPLES = [
  sample(text("TEXT_MESSAGE_START", { role: "assistant", name: "n", ...common }), { after: [textEnd] }),
  sample(text("TEXT_MESSAGE_CONTENT", { delta: "word" }), { before: [textStart], after: [textEnd] }),
  sample(textEnd, { before: [textStart] }),
  sample(text("TEXT_MESSAGE_CHUNK", { role: "user", delta: "word", name: "n" })),
  sample(call("TOOL_CALL_START", { toolCallName: "f", parentMessageId: "p" }), { after: [callEnd] }),
  sample(call("TOOL_CALL_ARGS", { delta: "{}" }), { before: [callStart], after: [callEnd] }),
  sample(callEnd, { before: [callStart] }),
  sample(call("TOOL_CALL_CHUNK", { toolCallName: "f", parentMessageId: "p", delta: "{}" })),
  sample(call("TOOL_CALL_RESULT", { messageId: "m", content: "result", role: "tool" }), { before: [callStart, callEnd] }),
  sample(call("TOOL_CALL_RESULT", { messageId: "m", content: parts }), { before: [callStart, callEnd] }),
  sample({ type: "STATE_SNAPSHOT", snapshot: { a: null } }),
  sample({ type: "STATE_DELTA", delta: patch }, { before: [{ type: "STATE_SNAPSHOT", snapshot: {} }] }),
  sample({ type: "MESSAGES_SNAPSHOT", messages }),
  sample({ type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "plan", content: { a: 1 }, replace: true }),
  sample({ type: "ACTIVITY_DELTA", messageId: "a", activityType: "plan", patch }, {
    before: [{ type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "plan", content: {} }],
  }),
  sample({ type: "RAW", event: { a: 1 }, source: "elsewhere" }),
  sample({ type: "CUSTOM", name: "c", value: null }),
  sample({ ...START, parentRunId: "p", input, ...common }, { start: null }),
  sample({ ...FINISH, result: { a: null }, outcome: { type: "interrupt", interrupts: [interrupt] }, usage }, { finish: null }),
  sample({ ...FINISH, outcome: { type: "success", pendingToolCallIds: ["c"] } }, { before: [callStart, callEnd], finish: null }),
  sample({ ...FINISH, outcome: { type: "cancelled" } }, { finish: null }),
  sample({ type: "RUN_ERROR", message: "no", code: "c", usage }, { finish: null }),
  sample({ type: "STEP_STARTED", stepName: "s" }, { after: [{ type: "STEP_FINISHED", stepName: "s" }] }),
  sample({ type: "STEP_FINISHED", stepName: "s" }, { before: [{ type: "STEP_STARTED", stepName: "s" }] }),
  sample(text("REASONING_START"), { after: [text("REASONING_END")] }),
  sample(thoughtStart, { before: thought.before, after: [thoughtEnd, ...thought.after] }),
  sample(text("REASONING_MESSAGE_CONTENT", { delta: "hm" }), { before: [...thought.before, thoughtStart], after: [thoughtEnd, ...thought.after] }),
  sample(thoughtEnd, { before: [...thought.before, thoughtStart], after: thought.after }),
  sample(text("REASONING_MESSAGE_CHUNK", { delta: "hm" }), thought),
  sample(text("REASONING_END"), { before: thought.before }),
  sample({ type: "REASONING_ENCRYPTED_VALUE", subtype: "message", entityId: "m", encryptedValue: "e" }, { before: [textStart, textEnd] }),
  sample(sub("SUBAGENT_STARTED", { name: "n", description: "d", parentToolCallId: "c", parentMessageId: "p" }), { after: [sub("SUBAGENT_FINISHED")] }),
  sample(sub("SUBAGENT_FINISHED", { result: 1, outcome: { type: "suspended", interruptIds: ["i"] } }), { before: [sub("SUBAGENT_STARTED", { name: "n" })] }),
  sample(sub("SUBAGENT_FINISHED", { outcome: { type: "success" } }), { before: [sub("SUBAGENT_STARTED", { name: "n" })] }),
  sample(sub("SUBAGENT_ERROR", { message: "no", code: "c" }), { before: [sub("SUBAGENT_STARTED", { name: "n" })] }),
];

/** One value of each type of JSON, odd enough to be no other member's. */
const VALUES = { null: null, boolean: true, integer: 7, fraction: 1.5, negative: -1, string: "novel", array: [], object: {} };

/** Every sample as it stands, and every change to every member of it. */
export function* corpus() {
  for (const [index, { before, event, after }] of SAMPLES.entries()) {
    const name = `${index} ${event.type}`;
    yield { name, before, event, after };
    for (const path of paths(event)) {
      // What the type is, is another test's question: an unknown one is carried whatever it holds.
      if (path.length === 1 && path[0] === "type") continue;
      const where = path.join(".");
      if (typeof path.at(-1) === "string") {
        yield { name: `${name}: without ${where}`, before, event: changed(event, path), after };
      }
      for (const [kind, value] of Object.entries(VALUES)) {
        yield { name: `${name}: ${where} is ${kind}`, before, event: changed(event, path, value), after };
      }
    }
    for (const path of [[], ...paths(event)]) {
      const target = at(event, path);
      if (target === null || typeof target !== "object" || Array.isArray(target)) continue;
      const where = [...path, "xUnknown"];
      yield { name: `${name}: ${where.join(".")} is unknown`, before, event: changed(event, where, { a: [null] }), after };
    }
  }
}

function* paths(value, above = []) {
  if (value === null || typeof value !== "object") return;
  for (const [key, member] of Object.entries(value)) {
    const path = [...above, Array.isArray(value) ? Number(key) : key];
    yield path;
    yield* paths(member, path);
  }
}

const at = (value, path) => path.reduce((inner, key) => inner[key], value);

/** A copy with the member at `path` set to `value`, or left out when none is given. */
function changed(event, path, ...value) {
  const copy = structuredClone(event);
  const target = at(copy, path.slice(0, -1));
  if (value.length) target[path.at(-1)] = value[0];
  else delete target[path.at(-1)];
  return copy;
}
