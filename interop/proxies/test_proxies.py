"""What docs/deploy.md promises of each proxy that it has a snippet for."""

import contextlib
import json
import ssl
import time
import uuid

import httpx
import pytest

import proxies
from processes import until
from stack import Stack

# Longer than the gateway's pings are apart.
QUIET = 12
# What the door takes.
BODY_LIMIT = 16 << 20
# A client's own address here, which is not the proxy's.
SOMEBODY = "127.0.0.2"
LIAR = "203.0.113.9"


@pytest.fixture(scope="module", params=proxies.ALL)
def stack(request, stacks):
    return stacks[request.param]


@pytest.fixture(scope="module")
def stacks(tmp_path_factory):
    with contextlib.ExitStack() as running:
        yield {name: Stack(name, tmp_path_factory.mktemp(name), running) for name in proxies.ALL}


def client(stack, http2=False, address=None):
    trust = ssl.create_default_context(cafile=stack.certificate)
    transport = httpx.HTTPTransport(verify=trust, http1=not http2, http2=http2, local_address=address)
    return httpx.Client(transport=transport, base_url=stack.url, timeout=20)


def run_input(text, **members):
    message = {"id": str(uuid.uuid4()), "role": "user", "content": text}
    return {"threadId": str(uuid.uuid4()), "runId": "r", "messages": [message]} | members


def agent(stack, name):
    """Where an agent is, as the roster says."""
    with client(stack) as caller:
        agents = caller.get("/agents").json()["agents"]
    return next(agent for agent in agents if agent["name"] == name)


def peer_of(stack, request_id):
    """Whom the gateway took a request to come from."""

    def condition():
        spans = (span for line in stack.lines() for span in [line.get("span", {}), *line.get("spans", [])])
        return next((span["peer"] for span in spans if span.get("id") == request_id), None)

    return until(condition, f"line of the request {request_id}")


@pytest.mark.parametrize("http2", [False, True])
def test_a_stream_arrives_event_by_event_and_is_not_gathered(stack, http2):
    url = agent(stack, "edge")["aguiUrl"]
    with client(stack, http2) as caller, caller.stream("POST", url, json=run_input("slow")) as answer:
        assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
        assert answer.headers["content-type"] == "text/event-stream"
        seen, run = 0, None
        for line in answer.iter_lines():
            if line.startswith("id: "):
                run, seen = line.removeprefix("id: ").rsplit(":", 1)
            if int(seen) >= 10:
                break
        # The agent says a word every 100 ms, fifty of them.
        recorded = httpx.get(f"{stack.plain}/runs/{run}").json()
        assert recorded["status"] == "running", recorded
        events = httpx.get(f"{stack.plain}/runs/{run}/events").json()["events"]
        assert len(events) < int(seen) + 15, f"{len(events)} were said and {seen} are here"


def test_whoever_is_at_the_proxy_is_the_peer_whatever_it_says(stack):
    lies = {
        "x-forwarded-for": LIAR,
        "forwarded": f"for={LIAR};host=evil.example;proto=http",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
        "x-real-ip": LIAR,
    }
    for headers in [{}, *({name: value} for name, value in lies.items()), lies]:
        name = str(uuid.uuid4())
        with client(stack, address=SOMEBODY) as caller:
            assert caller.get("/agents", headers=headers | {"x-request-id": name}).status_code == 200
        assert peer_of(stack, name) == SOMEBODY, headers


def test_the_page_of_metrics_is_not_there_from_outside(stack):
    with client(stack) as caller:
        for path in ["/metrics", "/metrics/", "/%6Detrics", "//metrics", "/./metrics", "/metrics?x=1"]:
            assert caller.get(httpx.URL(stack.url, raw_path=path.encode())).status_code == 404, path
    assert "funduq_runs_opened_total" in httpx.get(f"{stack.plain}/metrics").text


def test_cards_and_rosters_are_made_of_the_public_name(stack):
    edge = agent(stack, "edge")
    assert edge["aguiUrl"].startswith(f"{stack.url}/agui/")
    assert edge["agentCardUrl"].startswith(f"{stack.url}/a2a/")
    with client(stack) as caller:
        card = caller.get(edge["agentCardUrl"]).json()
    urls = [interface["url"] for interface in card["supportedInterfaces"]]
    assert urls and all(url.startswith(f"{stack.url}/a2a/") for url in urls), urls


@pytest.mark.parametrize("http2", [False, True])
def test_the_largest_body_passes_and_one_byte_more_does_not(stack, http2):
    url = agent(stack, "edge")["aguiUrl"]
    empty = json.dumps(run_input("hello", forwardedProps={"pad": ""}))
    pad = "x" * (BODY_LIMIT - len(empty))
    body = empty.replace('"pad": ""', f'"pad": "{pad}"').encode()
    assert len(body) == BODY_LIMIT
    with client(stack, http2) as caller:
        answer = caller.post(url, content=body)
        assert answer.status_code == 200, answer.text[:500]
        assert "RUN_FINISHED" in answer.text
        # Over HTTP/2 this client hears no answer before all of its body is taken, and nginx takes none of this one.
        if not http2:
            assert caller.post(url, content=body + b" ").status_code == 413


def test_a_link_over_wss_survives_quiet(stack):
    time.sleep(max(0, stack.linked_at + QUIET - time.monotonic()))
    url = agent(stack, "edge")["aguiUrl"]
    with client(stack) as caller:
        answer = caller.post(url, json=run_input("still there"))
    assert "RUN_FINISHED" in answer.text, answer.text
    assert stack.links()[1:] == [stack.linked], "it is the link that was opened first"
