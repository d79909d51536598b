// What the stock OpenAI client makes of a model that somebody lends.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";
import { openai, saying, spending, told } from "../lib/kyok.mjs";

const LIMIT = { timeout: 30_000 };

const tool = (name) => ({ type: "function", function: { name, parameters: { type: "object", properties: {} } } });

/** The words of a stream, and the error that ended it, if one did. */
async function drain(stream) {
  const words = [];
  try {
    for await (const chunk of stream) words.push(chunk.choices[0]?.delta.content);
    return { words };
  } catch (error) {
    return { words, error };
  }
}

test("a whole answer", LIMIT, () =>
  spending(async (client) => {
    const answer = await client.chat.completions.create(saying("hello there 你好"));
    assert.equal(answer.object, "chat.completion");
    assert.equal(answer.choices[0].message.content, "hello there 你好");
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert.equal(answer.usage.total_tokens, 4);
  }));

test("a streamed answer", LIMIT, () =>
  spending(async (client) => {
    const options = { stream: true, stream_options: { include_usage: true } };
    const stream = await client.chat.completions.create(saying("one two three", options));
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    const words = chunks.filter((chunk) => chunk.choices.length).map((chunk) => chunk.choices[0].delta.content);
    assert.deepEqual(words, ["", "one ", "two ", "three", undefined]);
    assert.equal(chunks.at(-1).usage.completion_tokens, 3);
  }));

test("tool calls, whole and streamed", LIMIT, () =>
  spending(async (client) => {
    const asked = saying("and the weather?", { tools: [tool("weather"), tool("other")] });
    const answer = await client.chat.completions.create(asked);
    assert.equal(answer.choices[0].finish_reason, "tool_calls");
    const calls = answer.choices[0].message.tool_calls.map((call) => [call.id, call.function.name, call.function.arguments]);
    const wanted = [["call-0", "weather", '{"city": "Taipei"}'], ["call-1", "other", '{"city": "Taipei"}']];
    assert.deepEqual(calls, wanted);
    const streamed = await client.chat.completions.stream(asked).finalMessage();
    assert.deepEqual(streamed.tool_calls.map((call) => call.function.arguments), Array(2).fill('{"city": "Taipei"}'));
  }));

test("a response format reaches the model", LIMIT, () =>
  spending(async (client) => {
    const asked = saying("as an object", { response_format: { type: "json_object" } });
    const answer = await client.chat.completions.create(asked);
    assert.equal(answer.choices[0].message.content, '{"format":"json_object","said":"as an object"}');
  }));

for (const stream of [false, true]) {
  test(`a refusal is an error with the lender's own object, stream: ${stream}`, LIMIT, () =>
    spending(async (client) => {
      await assert.rejects(client.chat.completions.create(saying("refuse", { stream })), (error) => {
        assert.ok(error instanceof OpenAI.PermissionDeniedError);
        assert.equal(error.code, "budget_spent");
        assert.deepEqual(error.error.left, { tokens: 0 });
        return true;
      });
    }));
}

test("a failure in mid-stream ends the stream with an error", LIMIT, () =>
  spending(async (client) => {
    const { words, error } = await drain(await client.chat.completions.create(saying("fail", { stream: true })));
    assert.deepEqual(words, ["", "half "]);
    assert.ok(error instanceof OpenAI.APIError);
    assert.equal(error.code, "model_failed");
  }));

test("a failure of a whole answer is a bad gateway", LIMIT, () =>
  spending(
    (client) =>
      assert.rejects(client.chat.completions.create(saying("fail")), { status: 502, code: "model_failed" }),
    { maxRetries: 0 },
  ));

test("a provider that dies in mid-stream is not taken for whole", LIMIT, () =>
  spending(
    async (client) => {
      const { words, error } = await drain(await client.chat.completions.create(saying("die", { stream: true })));
      assert.deepEqual(words, ["", "half "]);
      assert.equal(error.code, "provider_disconnected");
    },
    { lender: "mortalKey" },
  ));

test("a cancelled request stops the model", LIMIT, () =>
  spending(async (client) => {
    const stopped = async () => {
      const answer = await client.chat.completions.create(saying("stopped"));
      return Number(answer.choices[0].message.content);
    };
    const before = await stopped();
    const stream = await client.chat.completions.create(saying("endless", { stream: true }));
    for await (const chunk of stream) {
      assert.equal(chunk.choices[0].delta.content, "on ");
      break;
    }
    stream.controller.abort();
    while ((await stopped()) === before) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await stopped(), before + 1);
  }));

test("twenty at once", LIMIT, () =>
  spending(async (client) => {
    const ask = async (n) => {
      const text = `number ${n} `.repeat(20);
      if (n % 2) {
        const answer = await client.chat.completions.create(saying(text));
        return assert.equal(answer.choices[0].message.content, text);
      }
      const { words } = await drain(await client.chat.completions.create(saying(text, { stream: true })));
      assert.equal(words.join(""), text);
    };
    await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n)));
  }));

test("the models list is the one that is lent", LIMIT, () =>
  spending(async (client) => {
    const models = await client.models.list();
    assert.deepEqual(models.data.map((model) => model.id), ["model"]);
  }));

test("a call without a signature, and one after the run", LIMIT, async () => {
  const token = await spending(async (_client, token) => {
    const unsigned = new OpenAI({ baseURL: `${told("FUNDUQ_URL")}/kyok/v1`, apiKey: token });
    await assert.rejects(unsigned.chat.completions.create(saying("hello")), { status: 401, code: "missing_signature" });
    return token;
  });
  await assert.rejects(openai(token).chat.completions.create(saying("hello")), { status: 403, code: "run_not_live" });
});
