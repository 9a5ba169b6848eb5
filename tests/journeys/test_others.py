"""Other machines and other people: keys that are taken back, and lines that cannot be read."""

import http.client
import json
import socket
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from tests.journeys.conftest import Rig


def good_token(rig: Rig, role: str) -> str:
    listed = json.loads(rig.run("token", "list", "--json").stdout)["tokens"]
    (found,) = [one for one in listed if one["role"] == role and one["state"] == "good"]
    return found["token_id"]


@pytest.mark.behaviour("token.revoked")
def test_a_client_whose_token_is_revoked_ends_and_says_why(rig: Rig) -> None:
    rig.start_server()
    client = rig.start_client()

    done = rig.run("token", "revoke", good_token(rig, "client"))
    said, _ = client.communicate(timeout=20)

    assert done.returncode == 0
    assert client.returncode == 1
    assert "this token is unknown, revoked or expired" in said
    assert "handrail token create --role client" in said

    # The way back: a new token in the same folder, and all is as before.
    made = rig.run(
        "token", "create", "--role", "client", "--save", "--workspace", str(rig.workspace)
    )
    assert made.returncode == 0
    rig.start_client()


@pytest.fixture
def authority(rig: Rig) -> trustme.CA:
    """A server on all addresses, with a certificate of an authority that nobody knows yet."""
    made = trustme.CA()
    issued = made.issue_cert("localhost", "handrail.test")
    certificate, key = rig.home.parent / "server.pem", rig.home.parent / "server.key"
    certificate.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(key)
    rig.environment |= {
        "HANDRAIL_HOST": "0.0.0.0",
        "HANDRAIL_TLS_CERT": str(certificate),
        "HANDRAIL_TLS_KEY": str(key),
    }
    rig.start_server()
    return made


def knock(address: str, host: str, context: ssl.SSLContext | None) -> int:
    """Ask for the server's health under a name; gives the status."""
    name = urlsplit(address).hostname or ""
    port = urlsplit(address).port
    if context is None:
        line = http.client.HTTPConnection(name, port, timeout=10)
    else:
        line = http.client.HTTPSConnection(name, port, timeout=10, context=context)
    try:
        line.request("GET", "/health", headers={"host": host})
        return line.getresponse().status
    finally:
        line.close()


@pytest.mark.behaviour("serve.tls")
def test_a_server_with_a_certificate_serves_whoever_trusts_it(
    rig: Rig, authority: trustme.CA, tmp_path: Path
) -> None:
    assert rig.credentials.server == f"https://localhost:{rig.port}"

    # Who does not know the authority does not go on.
    stranger = rig.run("connect", str(rig.workspace))
    assert stranger.returncode == 1
    assert "is not trusted on this machine" in stranger.stderr
    assert "SSL_CERT_FILE" in stranger.stderr
    asking = rig.run("executions", "--workspace", str(rig.workspace))
    assert "is not trusted on this machine" in asking.stderr

    known = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(known)
    rig.environment["SSL_CERT_FILE"] = str(known)
    rig.start_client()
    (rig.workspace / "README.md").write_text("hello\n")
    toured = rig.run("tour", "--auto", "--workspace", str(rig.workspace))
    assert toured.returncode == 0, toured.stdout + toured.stderr

    trusting = ssl.create_default_context(cafile=str(known))
    assert knock(rig.credentials.server, "handrail.test", trusting) == 200
    assert knock(rig.credentials.server, "evil.test", trusting) == 403
    with pytest.raises((http.client.HTTPException, OSError)):
        knock(rig.credentials.server, "localhost", None)


@pytest.mark.behaviour("serve.proxy")
def test_a_server_behind_a_proxy_answers_to_its_public_name(rig: Rig) -> None:
    rig.environment |= {
        "HANDRAIL_HOST": "0.0.0.0",
        "HANDRAIL_BEHIND_PROXY": "https://handrail.example.org",
    }
    rig.start_server()
    rig.start_client()
    address = rig.credentials.server

    assert address == f"http://127.0.0.1:{rig.port}"
    assert knock(address, "handrail.example.org", None) == 200
    assert knock(address, "evil.example.org", None) == 403
    for headers in ({}, {"x-forwarded-for": "127.0.0.1"}):
        line = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=10)
        line.request("GET", "/metrics", headers=headers)
        assert line.getresponse().status == 403
        line.close()


@pytest.mark.behaviour("serve.tls")
def test_without_either_nobody_listens_beyond_this_machine(rig: Rig) -> None:
    ended = rig.run("serve", "--host", "0.0.0.0", "--workspace", str(rig.workspace))

    assert ended.returncode == 1
    assert "--tls-cert" in ended.stderr
    assert "--behind-proxy" in ended.stderr
    with socket.create_server(("127.0.0.1", rig.port)):
        pass
