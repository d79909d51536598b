"""What can be done with a task beside sending to it: list, cancel, subscribe, look at part of its history."""

import asyncio

import pytest
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError

from stock import BINDINGS, Turn, artifact_text, bounded, client, eventually, funduq_metadata, request, send

over_both = pytest.mark.parametrize('binding', BINDINGS)


@over_both
@bounded
async def test_a_context_is_listed_in_pages_newest_first(binding):
    async with client(binding=binding) as stock:
        tasks = [(await send(stock, request('one'))).task]
        context = tasks[0].context_id
        for text in ('two', 'three', 'four', 'five'):
            tasks.append((await send(stock, request(text, context_id=context))).task)
        newest_first = [task.id for task in reversed(tasks)]

        listed, token = [], ''
        while True:
            page = await stock.list_tasks(ListTasksRequest(context_id=context, page_size=2, page_token=token))
            assert page.total_size == 5
            assert page.page_size == 2
            assert all(not task.artifacts for task in page.tasks), 'artifacts come only when asked for'
            listed += [task.id for task in page.tasks]
            token = page.next_page_token
            if not token:
                break
        assert listed == newest_first

        whole = await stock.list_tasks(ListTasksRequest(context_id=context, include_artifacts=True))
        assert [artifact_text(task) for task in whole.tasks] == ['five', 'four', 'three', 'two', 'one']
        none = await stock.list_tasks(ListTasksRequest(context_id=context, status=TaskState.TASK_STATE_FAILED))
        assert not none.tasks and none.total_size == 0
        # Without a context nothing is visible.
        assert not (await stock.list_tasks(ListTasksRequest())).tasks


@over_both
@bounded
async def test_a_slow_task_stops_when_it_is_cancelled(binding):
    async with client(binding=binding) as stock:
        turn, answer = Turn(), None
        async for event in stock.send_message(request('slow and steady')):
            turn.take(event)
            if len(turn.deltas) == 2 and answer is None:
                answer = await stock.cancel_task(CancelTaskRequest(id=turn.task.id))
                assert answer.id == turn.task.id
                if answer.status.state == TaskState.TASK_STATE_WORKING:
                    assert funduq_metadata(answer)['cancelRequested']
        assert turn.state == 'TASK_STATE_CANCELED'
        assert len(turn.deltas) < 40, 'it would have said fifty words'
        with pytest.raises(TaskNotCancelableError):
            await stock.cancel_task(CancelTaskRequest(id=turn.task.id))


@over_both
@bounded
async def test_a_task_that_waits_is_closed_by_a_cancel(binding):
    async with client(binding=binding) as stock:
        asked = await send(stock, request('ask me something'))
        closed = await stock.cancel_task(CancelTaskRequest(id=asked.task.id))
        assert closed.status.state == TaskState.TASK_STATE_CANCELED
        task = await stock.get_task(GetTaskRequest(id=asked.task.id))
        assert task.status == closed.status


@over_both
@bounded
async def test_a_client_that_left_comes_back_to_its_task(binding):
    async with client(binding=binding) as stock:
        left = Turn()
        stream = stock.send_message(request('slow and steady'))
        async for event in stream:
            left.take(event)
            if len(left.deltas) == 2:
                break
        await stream.aclose()

    async with client(binding=binding) as stock:
        turn = Turn()

        async def subscribe():
            async for event in stock.subscribe(SubscribeToTaskRequest(id=left.task.id)):
                turn.take(event)
            return True

        # One stream per task, and the first is free the moment its connection is gone.
        await eventually(lambda: _unless_refused(subscribe))
        task = await stock.get_task(GetTaskRequest(id=left.task.id))
    assert turn.state == 'TASK_STATE_COMPLETED'
    assert turn.text == artifact_text(task), 'neither gap nor double'
    assert turn.text.startswith(left.text)
    assert task.status == turn.task.status


async def _unless_refused(subscribe):
    from a2a.utils.errors import UnsupportedOperationError

    try:
        return await subscribe()
    except UnsupportedOperationError:
        return False


@over_both
@bounded
async def test_a_client_that_does_not_wait_gets_the_task_at_once(binding):
    async with client(binding=binding, streaming=False, polling=True) as stock:
        turn = await asyncio.wait_for(send(stock, request('slow and steady')), 3)
        assert turn.state in ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING')

        async def ended():
            task = await stock.get_task(GetTaskRequest(id=turn.task.id))
            return task if task.status.state == TaskState.TASK_STATE_COMPLETED else None

        task = await eventually(ended)
    assert artifact_text(task)


@over_both
@bounded
async def test_the_length_of_the_history_is_the_callers_to_choose(binding):
    async with client(binding=binding) as stock:
        asked = await send(stock, request('ask me something'))
        answered = await send(stock, request('cobalt', task_id=asked.task.id))
        whole = await stock.get_task(GetTaskRequest(id=answered.task.id))
        assert len(whole.history) >= 2
        none = await stock.get_task(GetTaskRequest(id=answered.task.id, history_length=0))
        assert not none.history
        newest = await stock.get_task(GetTaskRequest(id=answered.task.id, history_length=1))
        assert list(newest.history) == [whole.history[-1]]


@over_both
@bounded
async def test_an_unknown_task_is_not_cancelled_and_not_subscribed_to(binding):
    async with client(binding=binding) as stock:
        with pytest.raises(TaskNotFoundError):
            await stock.cancel_task(CancelTaskRequest(id='nothing'))
        with pytest.raises(TaskNotFoundError):
            async for _ in stock.subscribe(SubscribeToTaskRequest(id='nothing')):
                pass
