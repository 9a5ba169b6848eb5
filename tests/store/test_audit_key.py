"""The key is made once, for its owner alone, and signs what nobody else can."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from handrail.core.audit import AuditHead
from handrail.core.checkpoint import Checkpoint
from handrail.core.errors import SetupError
from handrail.core.ids import ProjectId
from handrail.store.audit_key import AuditKey, is_signed

AT = datetime(2026, 1, 1, tzinfo=UTC)


def sealed_by(key: AuditKey) -> Checkpoint:
    return key.seal(ProjectId("prj_1"), 1, AuditHead(7, "a" * 64), AT)


def test_a_key_is_made_once_and_found_again(tmp_path: Path) -> None:
    file = tmp_path / "audit.key"
    assert AuditKey.find(file) is None

    made = AuditKey.find_or_make(file)

    found = AuditKey.find(file)
    assert found is not None
    assert found.public == made.public == AuditKey.find_or_make(file).public
    assert os.listdir(tmp_path) == ["audit.key"]


def test_nobody_else_can_read_it(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        AuditKey.find_or_make(tmp_path / "audit.key")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "audit.key").stat().st_mode) == 0o600


def test_of_many_that_make_one_at_once_all_have_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: AuditKey.find_or_make(tmp_path / "audit.key"), range(8)))
    assert len({key.public for key in keys}) == 1


def test_what_it_signs_holds_and_nothing_else(tmp_path: Path) -> None:
    mine, other = (AuditKey.find_or_make(tmp_path / name) for name in ("mine", "other"))
    checkpoint = sealed_by(mine)

    assert is_signed(checkpoint)
    assert not is_signed(checkpoint._replace(seq=8))
    assert not is_signed(checkpoint._replace(number=2))
    assert not is_signed(checkpoint._replace(key=other.public))
    assert not is_signed(checkpoint._replace(signature=sealed_by(other).signature))


@pytest.mark.parametrize(("field", "value"), [("key", "zz"), ("key", ""), ("signature", "é")])
def test_what_is_no_key_and_no_signature_does_not_hold(
    tmp_path: Path, field: str, value: str
) -> None:
    checkpoint = sealed_by(AuditKey.find_or_make(tmp_path / "audit.key"))
    assert not is_signed(checkpoint._replace(**{field: value}))


def test_a_file_that_holds_something_else_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "audit.key"
    other = X25519PrivateKey.generate()
    for content in (
        b"",
        b"no key",
        other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    ):
        file.write_bytes(content)
        with pytest.raises(SetupError, match="put back the one that was there"):
            AuditKey.find_or_make(file)
        assert file.read_bytes() == content
