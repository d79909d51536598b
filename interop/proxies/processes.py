"""Processes that a test runs beside itself: started, waited for, and ended whatever happens."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import time

SOON = 20


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def program(name):
    """Where a proxy's program is: cargo xtask interop sees to it that it is somewhere."""
    found = shutil.which(name)
    assert found, f"there is no program {name}: run this by `cargo xtask interop proxies`, which fetches it"
    return found


def until(condition, what, within=SOON):
    """What a condition says once it says something."""
    deadline = time.monotonic() + within
    while not (said := condition()):
        assert time.monotonic() < deadline, f"after {within} s there is still no {what}"
        time.sleep(0.02)
    return said


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


class Process:
    """A process, what it says, and its end."""

    def __init__(self, folder, name, *command, env=()):
        self.name = name
        self.log = pathlib.Path(folder) / f"{name}.log"
        own = {key: value for key, value in os.environ.items() if not key.startswith("FUNDUQ_")}
        with self.log.open("w") as log:
            self.child = subprocess.Popen(
                [str(word) for word in command],
                cwd=folder,
                env=own | dict(env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def said(self):
        return self.log.read_text()

    def until_listening(self, port):
        def condition():
            assert self.child.poll() is None, f"{self.name} ended: {self.said()}"
            return listens(port)

        until(condition, f"{self.name} on port {port}")

    def end(self):
        self.child.terminate()
        try:
            self.child.wait(SOON)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise AssertionError(f"{self.name} did not end: {self.said()}") from None
