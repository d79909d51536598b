"""What funduq and the demo agent emit, in the eyes of the official AG-UI models: nothing missing, nothing unknown, no null."""

import json
from uuid import uuid4

import httpx
import pytest
from ag_ui.core import PROTOCOL_VERSION, Event, RunAgentInput, UserMessage
from pydantic import BaseModel, TypeAdapter

from stock import told

EVENTS = TypeAdapter(Event)


def stream(url: str, text: str, **fields) -> list[str]:
    """The events of one run, as the texts that crossed."""
    run_input = RunAgentInput(
        thread_id=str(uuid4()),
        run_id=str(uuid4()),
        protocol_version=PROTOCOL_VERSION,
        state={},
        messages=[UserMessage(id=str(uuid4()), role='user', content=text)],
        tools=[],
        context=[],
        forwarded_props={},
        **fields,
    )
    answer = httpx.post(
        url,
        content=run_input.model_dump_json(by_alias=True),
        headers={'content-type': 'application/json', 'accept': 'text/event-stream'},
        timeout=20,
    )
    assert answer.status_code == 200, answer.text
    frames = answer.content.decode().removesuffix('\n\n').split('\n\n')
    return [line.removeprefix('data: ') for frame in frames for line in frame.split('\n') if line.startswith('data:')]


def unknown_members(value, path='') -> list[str]:
    """Members that the models kept without knowing them."""
    if isinstance(value, BaseModel):
        found = [f'{path}.{name}' for name in value.model_extra or {}]
        for name in type(value).model_fields:
            found += unknown_members(getattr(value, name), f'{path}.{name}')
        return found
    if isinstance(value, list):
        return [found for index, item in enumerate(value) for found in unknown_members(item, f'{path}[{index}]')]
    return []


@pytest.mark.parametrize('text', ['plain words', 'ask', 'tool', 'think', 'fail'])
def test_the_demo_agent_emits_what_the_models_know(text):
    for frame in stream(told('FUNDUQ_AGUI_URL'), text):
        check(frame)


def test_what_funduq_itself_says_for_an_absent_agent_is_what_the_models_know():
    frames = stream(told('FUNDUQ_OFFLINE_AGUI_URL'), 'anybody home?')
    assert len(frames) == 2
    for frame in frames:
        check(frame)


def test_what_funduq_itself_says_to_a_needless_resume_is_what_the_models_know():
    resume = [{'interruptId': 'made-up', 'status': 'resolved', 'payload': {}}]
    frames = stream(told('FUNDUQ_AGUI_URL'), 'hello', resume=resume)
    assert [json.loads(frame)['type'] for frame in frames] == ['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_ERROR']
    for frame in frames:
        check(frame)


def check(frame: str) -> None:
    event = EVENTS.validate_json(frame)
    assert unknown_members(event) == [], frame
    assert json.loads(event.model_dump_json(by_alias=True)) == json.loads(frame), 'decoded and encoded, it is the same'
