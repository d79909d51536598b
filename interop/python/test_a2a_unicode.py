"""Text of every kind crosses unchanged: the stock parser splits lines at characters that JSON leaves as they are."""

import pytest

from stock import bounded, client, request, send

TEXTS = {
    'scripts without spaces and right-to-left': '漢字かな交じり文 한국어 עברית العربية हिन्दी',
    'joined emoji, flags and skin tones': '👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺 👍🏽 🧑🏿‍🚀',
    'combining marks apart from their base': 'e\u0301 a\u0308 n\u0303 Z\u0351\u036b\u0343',
    'line ends that only some parsers see': 'a\u2028b c\u2029d e\u0085f g\u000bh i\fj k\x1cl m\x1dn o\x1ep',
    'what looks like a frame': 'data: {} \n\nevent: error\ndata: [DONE]\n\n: comment\r\n\r\nid: 7',
    'control characters': '\u0000 \u0001 \u001f \u007f \\ " \\u0041 \ufeff',
    'astral planes and the last code point': '𝕳𝖊𝖑𝖑𝖔 \U0010ffff \U0001f468',
    'one long word': 'ß' * 100_000,
}


@pytest.mark.parametrize('streaming', [True, False], ids=['stream', 'unary'])
@pytest.mark.parametrize('text', TEXTS.values(), ids=TEXTS.keys())
@bounded
async def test_unchanged(text, streaming):
    async with client(streaming=streaming) as stock:
        turn = await send(stock, request(text))
    assert turn.state == 'TASK_STATE_COMPLETED'
    assert turn.text == text
