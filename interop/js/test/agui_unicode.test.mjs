// Text of every kind crosses both ways unchanged, whatever chunks the connection makes of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { agentAt, say, warningsOf } from "../lib/agui.mjs";

const TEXTS = {
  "scripts without spaces and right-to-left": "漢字かな交じり文 한국어 עברית العربية हिन्दी",
  "joined emoji, flags and skin tones": "👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺 👍🏽 🧑🏿‍🚀",
  "combining marks apart from their base": "e\u0301 a\u0308 n\u0303 Z\u0351\u036B\u0343",
  "line ends that only some parsers see": "a\u2028b c\u2029d e\u0085f g\u000bh i\fj",
  "what looks like a frame": "data: {} \n\nevent: error\ndata: [DONE]\n\n: comment\r\n\r\nid: 7",
  "control characters": "\u0000 \u0001 \u001f \u007f \\ \" \\u0041 \ufeff",
  "astral planes and the last code point": "𝕳𝖊𝖑𝖑𝖔 \u{10FFFF} \u{1F468}",
  "one long word": "ß".repeat(100_000),
};

for (const [what, text] of Object.entries(TEXTS)) {
  test(`unchanged: ${what}`, { timeout: 30_000 }, async (t) => {
    const { result: turn, warnings } = await warningsOf(t, () => say(agentAt(), text));
    assert.equal(turn.error, undefined);
    assert.equal(turn.text, text);
    assert.equal(turn.newMessages.at(-1).content, text);
    assert.deepEqual(warnings, []);
  });
}
