"""A funduq that is reached through a proxy alone: the real binary, a provider that links over wss, a self-made certificate."""

import datetime
import ipaddress
import json
import os
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import proxies
from processes import Process, free_port, until
from snippets import NAME, UPSTREAM, replaced, snippets


class Stack:
    """One proxy in front of one funduq; `certificate` is what a client has to trust. What it starts ends with `running`."""

    def __init__(self, name, folder, running):
        self.folder, self.running = folder, running
        port, upstream = free_port(), free_port()
        self.url, self.plain = f"https://localhost:{port}", f"http://127.0.0.1:{upstream}"
        own = certificate(folder)
        self.gateway = self.start_gateway(upstream)
        self.proxy, self.certificate = proxies.ALL[name](folder, port, f"127.0.0.1:{upstream}", *own)
        self.running.callback(self.proxy.end)
        self.proxy.until_listening(port)
        until(self.certificate.exists, f"certificate of {name}")
        self.provider = self.start_provider()

    def start_gateway(self, port):
        (settings,) = snippets("toml")
        others = {UPSTREAM: f"127.0.0.1:{port}", f"https://{NAME}": self.url}
        (self.folder / "funduq.toml").write_text(replaced(settings, others))
        gateway = Process(
            self.folder, "funduq", os.environ["FUNDUQ_BINARY"], "serve", "--demo", "--config", "funduq.toml",
            "--data-dir", "data", "--drain", "0s", "--log", "debug", "--log-format", "json",
            # Its demo has no operator, and nobody else is on this machine.
            "--enrolment", "open", "--allow-public-enrolment",
        )  # fmt: skip
        self.running.callback(gateway.end)
        gateway.until_listening(port)
        line = until(lambda: [l for l in gateway.said().splitlines() if l.startswith("ready ")], "ready line")[0]
        self.ready = json.loads(line.removeprefix("ready "))
        return gateway

    def start_provider(self):
        provider = Process(
            self.folder, "provider", os.environ["FUNDUQ_ECHO"], "--url", self.url, "--name", "edge",
            "--key", "provider.key", "--trust", self.certificate,
        )  # fmt: skip
        self.running.callback(provider.end)
        self.linked = until(lambda: self.links()[1:], f"link through the proxy ({provider.said()})")[0]
        self.linked_at = time.monotonic()
        return provider

    def lines(self):
        """What the gateway has logged."""
        lines = (line for line in self.gateway.said().splitlines() if line.startswith("{"))
        return [json.loads(line) for line in lines]

    def links(self):
        """The lines on links that were opened: the demo agents' own, and those through the proxy."""
        return [line for line in self.lines() if "is linked" in line.get("message", "")]


def certificate(folder):
    """A certificate for localhost that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(built.public_bytes(serialization.Encoding.PEM))
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    return paths
