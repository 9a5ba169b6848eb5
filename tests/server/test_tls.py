"""A certificate is read before anybody is let in, and every mistake in it is told."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from handrail.core.errors import SetupError
from handrail.server.tls import Tls


def issue(folder: Path, *names: str, stem: str = "server", days: int = 1) -> tuple[Path, Path]:
    """A certificate for these names and its key, in files."""
    made = trustme.CA().issue_cert(
        *names,
        not_after=datetime.now(UTC) + timedelta(days=days),
        not_before=datetime(2000, 1, 1, tzinfo=UTC),
    )
    certificate, key = folder / f"{stem}.pem", folder / f"{stem}.key"
    certificate.write_bytes(b"".join(pem.bytes() for pem in made.cert_chain_pems))
    made.private_key_pem.write_to_path(key)
    return certificate, key


def test_the_names_in_a_certificate_are_those_a_caller_may_use(tmp_path: Path) -> None:
    tls = Tls(*issue(tmp_path, "Handrail.test", "127.0.0.1", "::1", "*.team.test"))

    assert tls.names == ("handrail.test", "127.0.0.1", "[::1]", "*.team.test")


def test_an_address_has_a_name_that_the_certificate_proves(tmp_path: Path) -> None:
    tls = Tls(*issue(tmp_path, "*.team.test", "handrail.test", "127.0.0.1"))
    only_stars = Tls(*issue(tmp_path, "*.team.test", stem="stars"))

    assert tls.address_name("127.0.0.1") == "127.0.0.1"
    assert tls.address_name("0.0.0.0") == "handrail.test"
    assert only_stars.address_name("10.0.0.1") == "10.0.0.1"


def test_what_is_no_certificate_with_its_key_is_refused(tmp_path: Path) -> None:
    certificate, key = issue(tmp_path, "a.test")
    _, other = issue(tmp_path, "b.test", stem="other")
    expired, its_key = issue(tmp_path, "c.test", stem="expired", days=-1)
    pairs = [
        (certificate, other),
        (key, certificate),
        (tmp_path / "none.pem", key),
        (certificate, tmp_path / "none.key"),
        (expired, its_key),
    ]
    for pair in pairs:
        with pytest.raises(SetupError, match="not a usable certificate and key"):
            Tls(*pair)


def test_a_locked_key_is_refused_instead_of_asking_for_its_password(tmp_path: Path) -> None:
    certificate, key = issue(tmp_path, "a.test")
    opened = serialization.load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(
        opened.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"open sesame"),
        )
    )

    with pytest.raises(SetupError, match="locked with a password"):
        Tls(certificate, key)
