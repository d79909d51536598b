"""nginx, Caddy and Traefik as anybody gets them, each with its snippet, on loopback and without a privilege."""

import os

from processes import Process, free_port, program
from snippets import NAME, UPSTREAM, replaced, snippets

LETSENCRYPT = f"/etc/letsencrypt/live/{NAME}"

# What the snippet is included in: Debian's own /etc/nginx/nginx.conf, with every path under the suite's folder.
NGINX = """
{user}
daemon off;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 768; }}
http {{
    sendfile on;
    tcp_nopush on;
    types_hash_max_size 2048;
    default_type application/octet-stream;
    gzip on;
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include {folder}/funduq.conf;
}}
"""

# Before the snippet: where Caddy keeps what it makes, and that it leaves the machine's ports and trust alone.
CADDY = """
{{
    admin off
    skip_install_trust
    http_port {http}
    https_port {https}
    default_bind 127.0.0.1
    storage file_system {folder}/caddy
    auto_https disable_redirects
}}
"""

# The static configuration is the operator's own. That a request may take no longer than this to be read is to say nothing of
# streams and links, which last longer here.
TRAEFIK = """
entryPoints:
  websecure:
    address: 127.0.0.1:{port}
    transport: {{ respondingTimeouts: {{ readTimeout: 5s }} }}
providers:
  file: {{ directory: {folder}/dynamic }}
log: {{ level: INFO, noColor: true }}
global: {{ checkNewVersion: false, sendAnonymousUsage: false }}
"""
# A certificate in the place of Let's Encrypt's.
TRAEFIK_CERTIFICATE = """
tls:
  stores:
    default:
      defaultCertificate: {{ certFile: {certificate}, keyFile: {key} }}
"""


def nginx(folder, port, upstream, certificate, key):
    (snippet,) = snippets("nginx")
    others = {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        NAME + ";": "localhost;",
        f"{LETSENCRYPT}/fullchain.pem": str(certificate),
        f"{LETSENCRYPT}/privkey.pem": str(key),
        UPSTREAM: upstream,
    }
    (folder / "funduq.conf").write_text(replaced(snippet, others))
    # The user that root's workers run as otherwise may not be there, and cannot write here.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user))
    process = Process(folder, "nginx", program("nginx"), "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf")
    return process, certificate


def caddy(folder, port, upstream, _certificate, _key):
    (snippet,) = snippets("caddy")
    site = replaced(snippet, {f"{NAME} {{": f"localhost:{port} {{", UPSTREAM: upstream})
    options = CADDY.format(folder=folder, http=free_port(), https=port)
    (folder / "Caddyfile").write_text(options + site)
    process = Process(folder, "caddy", program("caddy"), "run", "--config", folder / "Caddyfile", env={"HOME": str(folder)})
    # For this name it is its own authority.
    return process, folder / "caddy/pki/authorities/local/root.crt"


def traefik(folder, port, upstream, certificate, key):
    (snippet,) = snippets("yaml")
    (folder / "dynamic").mkdir()
    others = {NAME: "localhost", UPSTREAM: upstream, "{ certResolver: letsencrypt }": "{}"}
    (folder / "dynamic/funduq.yaml").write_text(replaced(snippet, others))
    own = TRAEFIK_CERTIFICATE.format(certificate=certificate, key=key)
    (folder / "dynamic/certificate.yaml").write_text(own)
    (folder / "traefik.yaml").write_text(TRAEFIK.format(folder=folder, port=port))
    process = Process(folder, "traefik", program("traefik"), f"--configFile={folder / 'traefik.yaml'}")
    return process, certificate


ALL = {"nginx": nginx, "caddy": caddy, "traefik": traefik}
