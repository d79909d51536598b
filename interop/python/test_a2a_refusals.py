"""What is refused, in the error that A2A has for it and the stock client raises, over both bindings."""

from uuid import uuid4

import pytest
from a2a.client import AgentCardResolutionError
from a2a.types import GetTaskRequest, Part, TaskPushNotificationConfig
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

from stock import BINDINGS, bounded, client, request, send, told

over_both = pytest.mark.parametrize('binding', BINDINGS)
streaming_or_not = pytest.mark.parametrize('streaming', [True, False], ids=['stream', 'unary'])


@bounded
async def test_an_agent_that_nobody_registered_has_no_card():
    with pytest.raises(AgentCardResolutionError) as refusal:
        async with client(told('FUNDUQ_CARD_URL').replace('/echo/', '/nobody/')):
            pass
    assert refusal.value.status_code == 404


@over_both
@bounded
async def test_an_unknown_task_is_not_found(binding):
    async with client(binding=binding) as stock:
        with pytest.raises(TaskNotFoundError):
            await stock.get_task(GetTaskRequest(id=str(uuid4())))


@over_both
@streaming_or_not
@bounded
async def test_a_message_to_an_unknown_task_is_not_found(binding, streaming):
    async with client(binding=binding, streaming=streaming) as stock:
        with pytest.raises(TaskNotFoundError):
            await send(stock, request('hello', task_id=str(uuid4())))


@over_both
@streaming_or_not
@bounded
async def test_an_unknown_context_is_refused_and_never_made(binding, streaming):
    async with client(binding=binding, streaming=streaming) as stock:
        for context in (str(uuid4()), 'my own name for it'):
            with pytest.raises(InvalidParamsError) as refusal:
                await send(stock, request('hello', context_id=context))
            assert refusal.value.message


@over_both
@bounded
async def test_a_task_and_the_context_of_another_do_not_go_together(binding):
    async with client(binding=binding) as stock:
        asked = await send(stock, request('ask me something'))
        other = await send(stock, request('elsewhere'))
        with pytest.raises(InvalidParamsError):
            await send(stock, request('x', task_id=asked.task.id, context_id=other.task.context_id))


@over_both
@streaming_or_not
@bounded
async def test_a_message_to_a_task_that_has_ended_is_refused(binding, streaming):
    async with client(binding=binding, streaming=streaming) as stock:
        ended = await send(stock, request('all said'))
        with pytest.raises(UnsupportedOperationError):
            await send(stock, request('one more thing', task_id=ended.task.id))


@over_both
@streaming_or_not
@bounded
async def test_a_part_that_the_card_does_not_accept_is_refused_rather_than_lost(binding, streaming):
    pictures = [
        Part(raw=b'\x89PNG', media_type='image/png', filename='a.png'),
        Part(url='https://example.com/a.png', media_type='image/png'),
    ]
    async with client(binding=binding, streaming=streaming) as stock:
        for picture in pictures:
            with pytest.raises(ContentTypeNotSupportedError):
                await send(stock, request('', part=picture))


@over_both
@bounded
async def test_push_notifications_are_refused_by_their_own_word(binding):
    async with client(binding=binding) as stock:
        turn = await send(stock, request('hello'))
        config = TaskPushNotificationConfig(task_id=turn.task.id, url='https://example.com/hook')
        with pytest.raises(PushNotificationNotSupportedError):
            await stock.create_task_push_notification_config(config)
