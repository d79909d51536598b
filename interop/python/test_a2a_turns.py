"""The stock A2A client over JSON-RPC: the card, a turn, the next turn in the same context, and an agent that is not there."""

import pytest
from a2a.client import A2ACardResolver
from a2a.types import GetTaskRequest, Role
import httpx

from stock import CARD_PATH, artifact_text, bounded, client, read, request, send, told

TEXT = 'the quick brown fox jumps over the lazy dog'

streaming_or_not = pytest.mark.parametrize('streaming', [True, False], ids=['stream', 'unary'])


@bounded
async def test_the_card_says_how_the_agent_is_reached():
    async with httpx.AsyncClient() as plain:
        card = await A2ACardResolver(plain, told('FUNDUQ_CARD_URL').removesuffix(CARD_PATH)).get_agent_card()
    assert card.name == 'echo'
    assert card.version
    assert card.capabilities.streaming
    assert not card.capabilities.push_notifications
    assert 'text/plain' in card.default_input_modes
    assert 'text/plain' in card.default_output_modes
    interface = next(i for i in card.supported_interfaces if i.protocol_binding == 'JSONRPC')
    assert interface.protocol_version == '1.0'
    assert interface.url.startswith(told('FUNDUQ_URL') + '/a2a/')


@bounded
async def test_a_turn_comes_back_word_by_word_and_whole():
    async with client() as stock:
        turn = await send(stock, request(TEXT))
        task = await stock.get_task(GetTaskRequest(id=turn.task.id))
    assert turn.state == 'TASK_STATE_COMPLETED'
    assert turn.text == TEXT
    assert len(turn.deltas) == len(TEXT.split())
    assert turn.events[0].WhichOneof('payload') == 'task'
    assert all(event.WhichOneof('payload') != 'task' for event in turn.events[1:])
    # The stream's last word is what the record says.
    assert task.status == turn.task.status
    assert task.context_id == turn.task.context_id
    assert artifact_text(task) == TEXT


@bounded
async def test_a_turn_without_a_stream_comes_back_whole():
    async with client(streaming=False) as stock:
        turn = await send(stock, request(TEXT))
    assert len(turn.events) == 1
    assert turn.state == 'TASK_STATE_COMPLETED'
    assert turn.text == TEXT
    assert turn.task.status.HasField('timestamp')


@streaming_or_not
@bounded
async def test_a_second_turn_in_the_same_context_is_a_task_of_its_own(streaming):
    async with client(streaming=streaming) as stock:
        first = await send(stock, request('first things first'))
        second = await send(stock, request('and then the second', context_id=first.task.context_id))
        earlier = await stock.get_task(GetTaskRequest(id=first.task.id))
    assert second.task.context_id == first.task.context_id
    assert second.task.id != first.task.id
    assert second.text == 'and then the second'
    assert artifact_text(earlier) == 'first things first'

    record = await read(f'/threads/{first.task.context_id}/messages')
    assert [(message['role'], message['content']) for message in record['messages']] == [
        ('user', 'first things first'),
        ('assistant', 'first things first'),
        ('user', 'and then the second'),
        ('assistant', 'and then the second'),
    ]


@bounded
async def test_a_task_keeps_the_message_that_it_came_from():
    message = request('remember me')
    async with client() as stock:
        turn = await send(stock, message)
        task = await stock.get_task(GetTaskRequest(id=turn.task.id))
    first = task.history[0]
    assert first.message_id == message.message.message_id
    assert first.role == Role.ROLE_USER
    assert first.parts[0].text == 'remember me'


@streaming_or_not
@bounded
async def test_an_agent_that_is_offline_is_a_failed_task_without_a_message(streaming):
    async with client(told('FUNDUQ_OFFLINE_CARD_URL'), streaming=streaming) as stock:
        turn = await send(stock, request('anybody home?'))
        task = await stock.get_task(GetTaskRequest(id=turn.task.id))
    for seen in (turn.task, task):
        assert turn.state == 'TASK_STATE_FAILED'
        assert not seen.status.HasField('message')
        assert not seen.artifacts
    assert task.status == turn.task.status
