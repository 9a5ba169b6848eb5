"""Where a server listens decides what it must prove, and what it is called."""

from pathlib import Path

import pytest

from handrail.app.exposure import Exposure, read_exposure
from handrail.app.settings import Settings
from handrail.core.errors import SetupError
from handrail.server.serving import bind
from tests.server.test_tls import issue


def exposed(tmp_path: Path, **settings: object) -> Exposure:
    return read_exposure(Settings(tmp_path, **settings))  # pyright: ignore[reportArgumentType]


def test_on_this_machine_nothing_must_be_proven(tmp_path: Path) -> None:
    plain = exposed(tmp_path)

    assert not plain.is_private
    assert plain.address(8000) == "http://127.0.0.1:8000"
    assert exposed(tmp_path, host="::1").address(8000) == "http://[::1]:8000"


def test_with_a_certificate_the_server_is_called_as_it_says(tmp_path: Path) -> None:
    certificate, key = issue(tmp_path, "handrail.test")

    here = exposed(tmp_path, host="0.0.0.0", tls_cert=certificate, tls_key=key)

    assert here.is_private
    assert here.address(8443) == "https://handrail.test:8443"
    assert here.hosts == {"handrail.test"}
    with bind("0.0.0.0", 0, private=here.is_private):
        pass


def test_behind_a_proxy_the_public_name_counts_and_this_machine_uses_its_own(
    tmp_path: Path,
) -> None:
    here = exposed(tmp_path, host="10.0.0.5", behind_proxy="https://Handrail.example.org:8443/")

    assert here.is_private
    assert here.origin == "https://handrail.example.org:8443"
    assert here.hosts == {"handrail.example.org", "10.0.0.5"}
    assert here.address(8000) == "http://10.0.0.5:8000"
    anywhere = exposed(tmp_path, host="0.0.0.0", behind_proxy="https://handrail.example.org")
    assert anywhere.address(8000) == "http://127.0.0.1:8000"


@pytest.mark.parametrize(
    "origin",
    ["handrail.example.org", "http://handrail.example.org", "https://", "https://a/b", "https://a:b",
     "https://user@a", "https://a?b", "https://[::1", "https://a b"],
)  # fmt: skip
def test_what_is_no_public_address_of_a_tls_proxy_is_refused(tmp_path: Path, origin: str) -> None:
    with pytest.raises(SetupError, match="--behind-proxy https://"):
        exposed(tmp_path, behind_proxy=origin)


@pytest.mark.parametrize("given", ["tls_cert", "tls_key"])
def test_a_certificate_needs_its_key(tmp_path: Path, given: str) -> None:
    with pytest.raises(SetupError, match="belong together"):
        exposed(tmp_path, **{given: tmp_path / "x.pem"})
