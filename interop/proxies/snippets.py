"""The snippets of docs/deploy.md, word for word: only ports, the names of files and the relay's name are others here."""

import pathlib
import re

DEPLOY = pathlib.Path(__file__).parents[2] / "docs/deploy.md"
NAME = "relay.example"
UPSTREAM = "127.0.0.1:8787"


def snippets(language):
    """The code blocks in this language of the section on proxies, in their order."""
    section = DEPLOY.read_text().split("\n## Behind a proxy\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    found = [text for word, text in blocks if word == language]
    assert found, f"{DEPLOY} has no {language} snippet under `Behind a proxy`"
    return found


def replaced(text, replacements):
    """The text with others in the place of these, each of which it must have."""
    for old, new in replacements.items():
        assert old in text, f"the snippet says {old!r} no more:\n{text}"
        text = text.replace(old, new)
    return text
