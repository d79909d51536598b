"""The stock OpenAI client as an agent uses it: base URL, key, and a hook that signs. And a run that is held open for it."""

import asyncio
import functools
import hashlib
import json
import os
import time
from contextlib import asynccontextmanager

import httpx2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

LIMIT = 30.0
"""Seconds that one test may take."""


def told(name: str) -> str:
    """A variable that `cargo xtask interop` sets; without it there is nothing to test."""
    value = os.environ.get(name)
    if not value:
        raise RuntimeError(f'{name} is not set: run the suites with `cargo xtask interop`')
    return value


def parties() -> dict:
    return json.loads(told('FUNDUQ_KYOK_PARTIES'))


def bounded(test):
    """Runs an asynchronous test to its end, and fails it when that does not come."""

    @functools.wraps(test)
    def run(*args, **kwargs):
        asyncio.run(asyncio.wait_for(test(*args, **kwargs), LIMIT))

    return run


@functools.cache
def template() -> str:
    """The bytes that a call is signed over, as the contract publishes them."""
    with open(told('FUNDUQ_CONTRACT'), encoding='utf-8') as published:
        return json.load(published)['contract']['surface']['payloads']['kyok-call']


def signer(token: str):
    """The hook: funduq's `kyok-call` payload over the bearer, the time and the body as it goes out."""
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(parties()['agentSeed']))

    async def sign(request) -> None:
        at = int(time.time())
        digest = hashlib.sha256(request.content).hexdigest()
        payload = template().format(bearer=token, timestamp=at, body_sha256_hex=digest)
        request.headers['Funduq-Timestamp'] = str(at)
        request.headers['Funduq-Signature'] = key.sign(payload.encode()).hex()

    return sign


def openai(token: str, *, sign: bool = True, **options) -> AsyncOpenAI:
    """The client of an agent with this token."""
    hooks = {'request': [signer(token)]} if sign else {}
    http = DefaultAsyncHttpxClient(event_hooks=hooks)
    return AsyncOpenAI(base_url=f'{told("FUNDUQ_URL")}/kyok/v1', api_key=token, http_client=http, **options)


@asynccontextmanager
async def run(lender: str = 'lenderKey'):
    """A run whose caller lends the agent a model, held open; yields its token."""
    who = parties()
    url = f'{told("FUNDUQ_URL")}/agui/{who["agentKey"]}/{who["agentName"]}'
    opt_in = {'llmProvider': {'providerKey': who[lender], 'name': who['offering']}, 'context': {'why': 'a test'}}
    body = {
        'threadId': 'new',
        'runId': 'new',
        'messages': [{'id': 'm', 'role': 'user', 'content': 'go on'}],
        'forwardedProps': {'kyok': opt_in},
    }
    async with httpx2.AsyncClient(timeout=LIMIT) as caller, caller.stream('POST', url, json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        events = (json.loads(line[6:]) async for line in answer.aiter_lines() if line.startswith('data: '))
        run_id = (await anext(events))['runId']
        async for event in events:
            if event['type'] == 'TEXT_MESSAGE_CONTENT':
                break
        try:
            yield event['delta']
        finally:
            task = f'{told("FUNDUQ_URL")}/a2a/{who["agentKey"]}/{who["agentName"]}/tasks/{run_id}:cancel'
            await caller.post(task, headers={'A2A-Version': '1.0'}, json={})
            async for event in events:
                pass


@asynccontextmanager
async def spending(**options):
    """The client of an agent in the middle of a run."""
    async with run(**options) as token, openai(token) as client:
        yield client


def saying(text: str, **members) -> dict:
    return {'model': 'any', 'messages': [{'role': 'user', 'content': text}], **members}
