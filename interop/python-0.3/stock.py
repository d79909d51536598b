"""Turns with the stock A2A client of 0.3: what an application would write, and a fold of what the client yields."""

import asyncio
import functools
import os
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import FilePart, Message, Part, Role, Task, TaskArtifactUpdateEvent, TextPart

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
    async with httpx.AsyncClient() as connection:
        wanted = ClientConfig(supported_transports=[binding], httpx_client=connection, **config)
        yield await ClientFactory.connect(base, wanted)


def message(text: str, *, file: FilePart | None = None, **fields) -> Message:
    """A user message of one part; `fields` are the message's own (`context_id`, `task_id`, …)."""
    part = Part(root=file or TextPart(text=text))
    return Message(message_id=str(uuid4()), role=Role.user, parts=[part], **fields)


@dataclass
class Turn:
    """What the client yielded for one message: it folds the task itself."""

    updates: list = field(default_factory=list)
    deltas: list[str] = field(default_factory=list)
    task: Task | None = None

    def take(self, event) -> None:
        assert isinstance(event, tuple), f'an agent behind funduq answers with tasks, not with {event}'
        self.task, update = event
        self.updates.append(update)
        if isinstance(update, TaskArtifactUpdateEvent) and (delta := text_of(update.artifact.parts)):
            self.deltas.append(delta)

    @property
    def state(self) -> str:
        return self.task.status.state.value

    @property
    def text(self) -> str:
        return artifact_text(self.task)


async def send(via, sent: Message) -> Turn:
    """Sends, and takes in all that comes back."""
    turn = Turn()
    async for event in via.send_message(sent):
        turn.take(event)
    assert turn.task is not None, 'the stream was empty'
    return turn


def text_of(parts) -> str:
    return ''.join(part.root.text for part in parts if isinstance(part.root, TextPart))


def artifact_text(task: Task) -> str:
    """All the text of a task's artifacts."""
    return ''.join(text_of(artifact.parts) for artifact in task.artifacts or [])
