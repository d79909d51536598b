"""The samples of `interop/corpus/`, each whole, and each with one thing about it changed, as in `interop/js/lib/corpus.mjs`."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path

SAMPLES = json.loads((Path(__file__).parent.parent / 'corpus' / 'samples.json').read_text())

VALUES = {
    'null': None,
    'boolean': True,
    'integer': 7,
    'fraction': 1.5,
    'negative': -1,
    'string': 'novel',
    'array': [],
    'object': {},
}
"""One value of each type of JSON, odd enough to be no other member's."""

LEAVE_OUT = object()


def corpus() -> Iterator[tuple[str, dict, list[dict]]]:
    """Every sample as it stands, and every change to every member of it: name, event, and the stream it stands in."""
    for index, sample in enumerate(SAMPLES):
        for name, event in changes(f'{index} {sample["event"]["type"]}', sample['event']):
            yield name, event, [*sample['before'], event, *sample['after']]


def changes(name: str, event: dict) -> Iterator[tuple[str, dict]]:
    yield name, event
    for path in paths(event):
        if path == ['type']:
            continue
        where = '.'.join(map(str, path))
        if isinstance(path[-1], str):
            yield f'{name}: without {where}', changed(event, path, LEAVE_OUT)
        for kind, value in VALUES.items():
            yield f'{name}: {where} is {kind}', changed(event, path, value)
    for path in [[], *paths(event)]:
        if isinstance(at(event, path), dict):
            where = [*path, 'xUnknown']
            yield f'{name}: {".".join(map(str, where))} is unknown', changed(event, where, {'a': [None]})


def paths(value, above=()) -> Iterator[list]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        path = [*above, key]
        yield path
        yield from paths(member, path)


def at(value, path):
    for key in path:
        value = value[key]
    return value


def changed(event: dict, path: list, value) -> dict:
    """A copy with the member at `path` set to `value`, or left out."""
    result = copy.deepcopy(event)
    target = at(result, path[:-1])
    if value is LEAVE_OUT:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return result
