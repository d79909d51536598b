"""What the stock OpenAI client makes of a model that somebody lends."""

import asyncio

import openai as stock_openai
import pytest
from openai import APIError, APIStatusError
from stock import bounded, openai, run, saying, spending

WEATHER = {
    'type': 'function',
    'function': {'name': 'weather', 'parameters': {'type': 'object', 'properties': {'city': {'type': 'string'}}}},
}


@bounded
async def test_a_whole_answer():
    async with spending() as client:
        answer = await client.chat.completions.create(**saying('hello there 你好'))
        assert answer.object == 'chat.completion'
        assert answer.choices[0].message.content == 'hello there 你好'
        assert answer.choices[0].message.role == 'assistant'
        assert answer.choices[0].finish_reason == 'stop'
        assert answer.usage.total_tokens == 4


@bounded
async def test_a_streamed_answer():
    async with spending() as client:
        options = {'stream': True, 'stream_options': {'include_usage': True}}
        stream = await client.chat.completions.create(**saying('one two three', **options))
        chunks = [chunk async for chunk in stream]
        assert [c.choices[0].delta.content for c in chunks if c.choices] == ['', 'one ', 'two ', 'three', None]
        assert chunks[-2].choices[0].finish_reason == 'stop'
        assert chunks[-1].usage.completion_tokens == 3


@bounded
async def test_tool_calls_whole_and_streamed():
    async with spending() as client:
        second = {**WEATHER, 'function': {**WEATHER['function'], 'name': 'other'}}
        asked = saying('and the weather?', tools=[WEATHER, second])
        answer = await client.chat.completions.create(**asked)
        assert answer.choices[0].finish_reason == 'tool_calls'
        calls = [(call.id, call.function.name, call.function.arguments) for call in answer.choices[0].message.tool_calls]
        assert calls == [('call-0', 'weather', '{"city": "Taipei"}'), ('call-1', 'other', '{"city": "Taipei"}')]
        async with client.chat.completions.stream(**asked) as stream:
            streamed = await stream.get_final_completion()
        assert [call.function.arguments for call in streamed.choices[0].message.tool_calls] == ['{"city": "Taipei"}'] * 2


@bounded
async def test_response_format_reaches_the_model():
    async with spending() as client:
        form = {'type': 'json_object'}
        answer = await client.chat.completions.create(**saying('as an object', response_format=form))
        assert answer.choices[0].message.content == '{"format":"json_object","said":"as an object"}'


@bounded
@pytest.mark.parametrize('stream', [False, True])
async def test_a_refusal_is_an_error_with_the_lenders_own_object(stream):
    async with spending() as client:
        with pytest.raises(stock_openai.PermissionDeniedError) as refused:
            await client.chat.completions.create(**saying('refuse', stream=stream))
        assert refused.value.code == 'budget_spent'
        assert refused.value.body['left'] == {'tokens': 0}


@bounded
async def test_a_failure_in_mid_stream_ends_the_stream_with_an_error():
    async with spending() as client:
        stream = await client.chat.completions.create(**saying('fail', stream=True))
        words = []
        with pytest.raises(APIError) as failed:
            async for chunk in stream:
                words.append(chunk.choices[0].delta.content)
        assert words == ['', 'half ']
        assert failed.value.code == 'model_failed'


@bounded
async def test_a_failure_of_a_whole_answer_is_a_bad_gateway():
    async with run() as token, openai(token, max_retries=0) as client:
        with pytest.raises(APIStatusError) as failed:
            await client.chat.completions.create(**saying('fail'))
        assert failed.value.status_code == 502
        assert failed.value.code == 'model_failed'


@bounded
async def test_a_provider_that_dies_in_mid_stream_is_not_taken_for_whole():
    async with spending(lender='mortalKey') as client:
        stream = await client.chat.completions.create(**saying('die', stream=True))
        words = []
        with pytest.raises(APIError) as failed:
            async for chunk in stream:
                words.append(chunk.choices[0].delta.content)
        assert words == ['', 'half ']
        assert failed.value.code == 'provider_disconnected'


@bounded
async def test_a_cancelled_request_stops_the_model():
    async with spending() as client:

        async def stopped() -> int:
            answer = await client.chat.completions.create(**saying('stopped'))
            return int(answer.choices[0].message.content)

        before = await stopped()
        stream = await client.chat.completions.create(**saying('endless', stream=True))
        assert (await anext(stream.__aiter__())).choices[0].delta.content == 'on '
        await stream.close()
        while await stopped() == before:
            await asyncio.sleep(0.02)
        assert await stopped() == before + 1


@bounded
async def test_twenty_at_once():
    async with spending() as client:

        async def ask(n: int) -> str:
            text = f'number {n} ' * 20
            if n % 2:
                answer = await client.chat.completions.create(**saying(text))
                said = answer.choices[0].message.content
            else:
                stream = await client.chat.completions.create(**saying(text, stream=True))
                said = ''.join([chunk.choices[0].delta.content or '' async for chunk in stream])
            return said == text

        assert all(await asyncio.gather(*(ask(n) for n in range(20))))


@bounded
async def test_the_models_list_is_the_one_that_is_lent():
    async with spending() as client:
        assert [model.id async for model in client.models.list()] == ['model']


@bounded
async def test_a_call_without_a_signature_and_one_after_the_run():
    async with run() as token:
        async with openai(token, sign=False) as client:
            with pytest.raises(stock_openai.AuthenticationError) as refused:
                await client.chat.completions.create(**saying('hello'))
        assert refused.value.code == 'missing_signature'
    async with openai(token) as client:
        with pytest.raises(stock_openai.PermissionDeniedError) as refused:
            await client.chat.completions.create(**saying('hello'))
    assert refused.value.code == 'run_not_live'
