"""The corpus of whole and changed events, through the relay and through the official Python models."""

import asyncio
import json
import re
from uuid import uuid4

import httpx
from ag_ui.core import Event
from pydantic import TypeAdapter, ValidationError

from corpus import corpus
from stock import told

EVENTS = TypeAdapter(Event)

ACCEPTED, REFUSED = 'accepted', 'refused'

# Where the two are allowed to differ: what is changed, what the models say, what the relay says, and why. A line that
# matches nothing any more is to be taken out.
EXCEPTIONS = [
    (
        re.compile(r'\.(type|op|role)( is \w+)?$|(\.\d+|source|outcome) is object$'),
        REFUSED,
        ACCEPTED,
        'a member of an open union that nobody knows is newer material: 1.0 lets it through, the models close the union',
    ),
    (
        re.compile(r' is null$'),
        ACCEPTED,
        REFUSED,
        'the models take null for what may be left out; 1.0 has no null there',
    ),
    (
        re.compile(r'without (.*toolCalls\.\d+\.type|role)$'),
        ACCEPTED,
        REFUSED,
        'the models fill in the one value that the member can have; 1.0 requires it to be there',
    ),
    (
        re.compile(r'RUN_(STARTED|FINISHED): (threadId|runId) is '),
        REFUSED,
        ACCEPTED,
        "whatever stands there, `replay` puts the run's own ids in its place",
    ),
]


def by_the_models(event: dict) -> str:
    try:
        EVENTS.validate_json(json.dumps(event), strict=True)
    except ValidationError:
        return REFUSED
    return ACCEPTED


async def by_the_relay(connection: httpx.AsyncClient, stream: list[dict]) -> str:
    """What the relay makes of the stream, when the demo agent `replay` sends it."""
    run_input = {
        'threadId': str(uuid4()),
        'runId': str(uuid4()),
        'messages': [{'id': str(uuid4()), 'role': 'user', 'content': 'replay'}],
        'forwardedProps': {'replay': stream},
    }
    answer = await connection.post(re.sub(r'[^/]+$', 'replay', told('FUNDUQ_AGUI_URL')), json=run_input)
    assert answer.status_code == 200, answer.text
    last = json.loads(answer.text.removesuffix('\n\n').rpartition('\ndata: ')[2])
    return REFUSED if (last['type'], last.get('code')) == ('RUN_ERROR', 'malformed_event') else ACCEPTED


def test_the_relay_and_the_models_agree_on_what_is_malformed():
    surprises, met = [], set()

    async def ask(connection, items):
        for name, event, stream in items:
            models, relay = by_the_models(event), await by_the_relay(connection, stream)
            if models == relay:
                continue
            for changed, of_models, of_relay, why in EXCEPTIONS:
                if changed.search(name) and (models, relay) == (of_models, of_relay):
                    met.add(why)
                    break
            else:
                surprises.append(f'{name}: the models {models}, the relay {relay}')

    async def ask_all():
        items = iter(corpus())
        async with httpx.AsyncClient(timeout=20) as connection:
            await asyncio.gather(*(ask(connection, items) for _ in range(8)))

    asyncio.run(ask_all())
    assert not surprises, f'{len(surprises)} events are judged otherwise:\n' + '\n'.join(surprises[:60])
    assert [why for *_, why in EXCEPTIONS if why not in met] == [], 'exceptions that nothing needs'
