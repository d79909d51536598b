"""The stock A2A client of 0.3, which sends no version header, over both bindings of its time."""

from uuid import uuid4

import pytest
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import FilePart, FileWithBytes, TaskIdParams, TaskQueryParams, TaskStatusUpdateEvent

from stock import BINDINGS, JSONRPC, Turn, artifact_text, bounded, client, message, send, text_of, told

TEXT = 'the quick brown fox jumps over the lazy dog'

TASK_NOT_FOUND = -32001
TASK_NOT_CANCELABLE = -32002
UNSUPPORTED_OPERATION = -32004
CONTENT_TYPE_NOT_SUPPORTED = -32005
INVALID_PARAMS = -32602

over_both = pytest.mark.parametrize('binding', BINDINGS)
streaming_or_not = pytest.mark.parametrize('streaming', [True, False], ids=['stream', 'unary'])


@over_both
@bounded
async def test_the_card_says_how_the_agent_is_reached(binding):
    async with client(binding=binding) as stock:
        card = await stock.get_card()
    assert card.name == 'echo'
    assert card.protocol_version.startswith('0.3')
    assert card.preferred_transport == JSONRPC
    assert card.url.startswith(told('FUNDUQ_URL') + '/a2a/')
    assert {interface.transport for interface in card.additional_interfaces} >= {'HTTP+JSON'}
    assert not card.supports_authenticated_extended_card


@over_both
@bounded
async def test_a_turn_comes_back_word_by_word_and_whole(binding):
    async with client(binding=binding) as stock:
        turn = await send(stock, message(TEXT))
        task = await stock.get_task(TaskQueryParams(id=turn.task.id))
    assert turn.state == 'completed'
    assert turn.text == TEXT
    assert len(turn.deltas) == len(TEXT.split())
    assert turn.updates[0] is None, 'the first event is the whole task'
    assert isinstance(turn.updates[-1], TaskStatusUpdateEvent)
    assert turn.updates[-1].final
    assert task.status == turn.task.status
    assert artifact_text(task) == TEXT


@over_both
@bounded
async def test_a_turn_without_a_stream_comes_back_whole(binding):
    async with client(binding=binding, streaming=False) as stock:
        turn = await send(stock, message(TEXT))
    assert turn.state == 'completed'
    assert turn.text == TEXT


@over_both
@streaming_or_not
@bounded
async def test_a_second_turn_in_the_same_context_is_a_task_of_its_own(binding, streaming):
    async with client(binding=binding, streaming=streaming) as stock:
        first = await send(stock, message('first things first'))
        second = await send(stock, message('and then the second', context_id=first.task.context_id))
    assert second.task.context_id == first.task.context_id
    assert second.task.id != first.task.id
    assert second.text == 'and then the second'


@over_both
@streaming_or_not
@bounded
async def test_a_question_makes_the_task_wait_and_its_answer_goes_on_with_the_same_task(binding, streaming):
    async with client(binding=binding, streaming=streaming) as stock:
        asked = await send(stock, message('ask me something'))
        assert asked.state == 'input-required'
        assert text_of(asked.task.status.message.parts), 'the question can be shown'
        answered = await send(stock, message('cobalt', task_id=asked.task.id))
    assert answered.task.id == asked.task.id
    assert answered.state == 'completed'
    assert 'cobalt' in answered.text


@over_both
@bounded
async def test_a_slow_task_stops_when_it_is_cancelled(binding):
    async with client(binding=binding) as stock:
        turn, asked = Turn(), None
        async for event in stock.send_message(message('slow and steady')):
            turn.take(event)
            if len(turn.deltas) == 2 and asked is None:
                asked = await stock.cancel_task(TaskIdParams(id=turn.task.id))
        assert asked.id == turn.task.id
        assert turn.state == 'canceled'
        with pytest.raises((A2AClientJSONRPCError, A2AClientHTTPError)) as refusal:
            await stock.cancel_task(TaskIdParams(id=turn.task.id))
    assert_refused(refusal, binding, TASK_NOT_CANCELABLE)


@over_both
@bounded
async def test_a_task_that_runs_is_subscribed_to_from_elsewhere(binding):
    async with client(binding=binding, streaming=False, polling=True) as stock:
        started = await send(stock, message('slow and steady'))
    async with client(binding=binding) as stock:
        turn = Turn()
        async for event in stock.resubscribe(TaskIdParams(id=started.task.id)):
            turn.take(event)
        task = await stock.get_task(TaskQueryParams(id=started.task.id))
    assert turn.state == 'completed'
    assert turn.text == artifact_text(task), 'neither gap nor double'


@over_both
@streaming_or_not
@bounded
async def test_what_is_refused_is_refused_by_its_code(binding, streaming):
    picture = FilePart(file=FileWithBytes(bytes='UE5H', mime_type='image/png', name='a.png'))
    async with client(binding=binding, streaming=streaming) as stock:
        ended = await send(stock, message('all said'))
        for refused, code in [
            (message('x', task_id=str(uuid4())), TASK_NOT_FOUND),
            (message('x', task_id=ended.task.id), UNSUPPORTED_OPERATION),
            (message('x', context_id=str(uuid4())), INVALID_PARAMS),
            (message('', file=picture), CONTENT_TYPE_NOT_SUPPORTED),
        ]:
            with pytest.raises((A2AClientJSONRPCError, A2AClientHTTPError)) as refusal:
                await send(stock, refused)
            assert_refused(refusal, binding, code)


@over_both
@bounded
async def test_an_unknown_task_is_not_found(binding):
    async with client(binding=binding) as stock:
        with pytest.raises((A2AClientJSONRPCError, A2AClientHTTPError)) as refusal:
            await stock.get_task(TaskQueryParams(id=str(uuid4())))
    assert_refused(refusal, binding, TASK_NOT_FOUND)


@over_both
@streaming_or_not
@bounded
async def test_an_agent_that_is_offline_is_a_failed_task_without_a_message(binding, streaming):
    async with client(told('FUNDUQ_OFFLINE_CARD_URL'), binding=binding, streaming=streaming) as stock:
        turn = await send(stock, message('anybody home?'))
    assert turn.state == 'failed'
    # Over REST this client makes an empty message of none.
    assert turn.task.status.message is None or not turn.task.status.message.parts


def assert_refused(refusal, binding, code):
    """Over JSON-RPC this client keeps the code; over REST it keeps only the status."""
    if binding == JSONRPC:
        assert isinstance(refusal.value, A2AClientJSONRPCError), repr(refusal.value)
        assert refusal.value.error.code == code
    else:
        assert isinstance(refusal.value, A2AClientHTTPError), repr(refusal.value)
        assert refusal.value.status_code == (404 if code == TASK_NOT_FOUND else 400)
