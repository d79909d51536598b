"""A task that waits for an answer, and tasks that share a context, over both bindings."""

import pytest
from a2a.types import GetTaskRequest

from stock import BINDINGS, artifact_text, bounded, client, funduq_metadata, request, send, text_of

over_both = pytest.mark.parametrize('binding', BINDINGS)
streaming_or_not = pytest.mark.parametrize('streaming', [True, False], ids=['stream', 'unary'])


@over_both
@streaming_or_not
@bounded
async def test_a_question_makes_the_task_wait_and_its_answer_goes_on_with_the_same_task(binding, streaming):
    async with client(binding=binding, streaming=streaming) as stock:
        asked = await send(stock, request('ask me something'))
        assert asked.state == 'TASK_STATE_INPUT_REQUIRED'
        assert text_of(asked.task.status.message.parts), 'the question can be shown'
        waiting = await stock.get_task(GetTaskRequest(id=asked.task.id))
        assert waiting.status == asked.task.status
        (interrupt,) = funduq_metadata(waiting)['interrupts']
        assert interrupt['id']
        assert interrupt['message'] in text_of(waiting.status.message.parts)

        # The task id alone tells the context.
        answered = await send(stock, request('cobalt', task_id=asked.task.id))
        assert answered.task.id == asked.task.id
        assert answered.task.context_id == asked.task.context_id
        assert answered.state == 'TASK_STATE_COMPLETED'
        assert 'cobalt' in answered.text
        whole = await stock.get_task(GetTaskRequest(id=asked.task.id))
    assert whole.status == answered.task.status
    assert 'cobalt' in artifact_text(whole)
    said = [text_of(message.parts) for message in whole.history]
    assert 'ask me something' in said and 'cobalt' in said, 'the whole lineage is the task'


@over_both
@bounded
async def test_an_unanswered_tool_call_waits_in_the_stream_and_in_the_record(binding):
    async with client(binding=binding) as stock:
        called = await send(stock, request('tool please'))
        task = await stock.get_task(GetTaskRequest(id=called.task.id))
    assert called.state == 'TASK_STATE_INPUT_REQUIRED'
    assert task.status == called.task.status
    (call,) = funduq_metadata(task)['pendingToolCalls']
    assert call['name'] == 'get_weather'


@over_both
@bounded
async def test_two_tasks_in_one_context_are_two_tasks(binding):
    async with client(binding=binding) as stock:
        asked = await send(stock, request('ask me something'))
        context = asked.task.context_id
        beside = await send(stock, request('something else', context_id=context))
        assert beside.task.id != asked.task.id
        assert beside.task.context_id == context
        assert beside.text == 'something else'
        # The one that waits still waits.
        waiting = await stock.get_task(GetTaskRequest(id=asked.task.id))
        assert waiting.status == asked.task.status
        answered = await send(stock, request('late', task_id=asked.task.id, context_id=context))
    assert answered.task.id == asked.task.id
    assert 'late' in answered.text


@over_both
@bounded
async def test_a_run_that_fails_is_a_failed_task_that_says_why(binding):
    async with client(binding=binding) as stock:
        turn = await send(stock, request('fail now'))
        task = await stock.get_task(GetTaskRequest(id=turn.task.id))
    assert turn.state == 'TASK_STATE_FAILED'
    assert task.status == turn.task.status
