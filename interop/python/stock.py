"""Turns with the stock A2A client: what an application would write, and a fold of what the client yields."""

import asyncio
import functools
import os
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import Message, Part, Role, SendMessageRequest, StreamResponse, Task, TaskState
from google.protobuf.json_format import MessageToDict

CARD_PATH = '/.well-known/agent-card.json'

JSONRPC = 'JSONRPC'
REST = 'HTTP+JSON'
BINDINGS = (JSONRPC, REST)

LIMIT = 30.0
"""Seconds that one test may take."""


def told(name: str) -> str:
    """A variable that `cargo xtask interop` sets; without it there is nothing to test."""
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f'{name} is not set: run the suites with `cargo xtask interop`')
    return value


def bounded(test):
    """Runs an asynchronous test to its end, and fails it when that does not come."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), LIMIT))

    return run


@asynccontextmanager
async def client(card_url: str | None = None, *, binding: str = JSONRPC, **config):
    """The stock client, made from the agent's card as its own factory does."""
    base = (card_url or told('FUNDUQ_CARD_URL')).removesuffix(CARD_PATH)
    made = await create_client(base, ClientConfig(supported_protocol_bindings=[binding], **config))
    async with made:
        yield made


def request(text: str, *, part: Part | None = None, **fields) -> SendMessageRequest:
    """A user message of one part; `fields` are the message's own (`context_id`, `task_id`, …)."""
    parts = [part or Part(text=text)]
    return SendMessageRequest(message=Message(message_id=str(uuid4()), role=Role.ROLE_USER, parts=parts, **fields))


@dataclass
class Turn:
    """What the client yielded for one message, folded as the specification says."""

    events: list[StreamResponse] = field(default_factory=list)
    task: Task | None = None
    deltas: list[str] = field(default_factory=list)

    def take(self, event: StreamResponse) -> None:
        self.events.append(event)
        match event.WhichOneof('payload'):
            case 'task':
                self.task = Task()
                self.task.CopyFrom(event.task)
            case 'status_update':
                assert self.task is not None, 'the first event of a stream is the whole task'
                assert event.status_update.task_id == self.task.id
                assert event.status_update.context_id == self.task.context_id
                self.task.status.CopyFrom(event.status_update.status)
            case 'artifact_update':
                assert self.task is not None, 'the first event of a stream is the whole task'
                self._append(event.artifact_update)
            case other:
                raise AssertionError(f'an agent behind funduq answers with tasks, not with {other}')

    def _append(self, update) -> None:
        assert update.task_id == self.task.id
        assert update.context_id == self.task.context_id
        delta = text_of(update.artifact.parts)
        if delta:
            self.deltas.append(delta)
        known = [a for a in self.task.artifacts if a.artifact_id == update.artifact.artifact_id]
        if update.append:
            assert known, 'an artifact begins with append = false'
            known[0].parts.extend(update.artifact.parts)
        else:
            assert not known, 'an artifact begins once'
            self.task.artifacts.add().CopyFrom(update.artifact)

    @property
    def state(self) -> str:
        return TaskState.Name(self.task.status.state)

    @property
    def text(self) -> str:
        return artifact_text(self.task)


async def send(via, message: SendMessageRequest) -> Turn:
    """Sends, and takes in all that comes back."""
    turn = Turn()
    async for event in via.send_message(message):
        turn.take(event)
    assert turn.task is not None, 'the stream was empty'
    return turn


def text_of(parts) -> str:
    return ''.join(part.text for part in parts)


def artifact_text(task: Task) -> str:
    """All the text of a task's artifacts."""
    return ''.join(text_of(artifact.parts) for artifact in task.artifacts)


def funduq_metadata(holder) -> dict:
    """What funduq wrote under its one key."""
    return MessageToDict(holder.metadata).get('funduq', {})


async def read(path: str) -> dict:
    """GET of one of the gateway's own routes."""
    async with httpx.AsyncClient() as plain:
        answer = await plain.get(told('FUNDUQ_URL') + path)
        answer.raise_for_status()
        return answer.json()


async def eventually(check, limit: float = 15.0):
    """Asks again and again until the answer is true; at most `limit` seconds."""
    deadline = time.monotonic() + limit
    while not (answer := await check()):
        assert time.monotonic() < deadline, f'still not so after {limit} s'
        await asyncio.sleep(0.05)
    return answer
