"""The key that seals records: Ed25519, in a file of its own, readable by its owner alone."""

import os
import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from handrail.core.audit import AuditHead
from handrail.core.checkpoint import Checkpoint, Signed
from handrail.core.errors import SetupError
from handrail.core.ids import ProjectId
from handrail.core.restoration import Restoration


class AuditKey:
    def __init__(self, private: Ed25519PrivateKey):
        self._private = private
        self.public = private.public_key().public_bytes_raw().hex()

    @classmethod
    def find(cls, file: Path) -> Self | None:
        """The key in a file, if there is one.

        Raises:
            SetupError: There is something else.
        """
        try:
            private = load_pem_private_key(file.read_bytes(), password=None)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SetupError(f"{file} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise SetupError(f"{file} holds no key; put back the one that was there") from error
        if not isinstance(private, Ed25519PrivateKey):
            raise SetupError(f"{file} holds a key of another kind; put back the one that was there")
        return cls(private)

    @classmethod
    def find_or_make(cls, file: Path) -> Self:
        """The key in a file; made on the first time. Of two that make one, one wins."""
        if (found := cls.find(file)) is not None:
            return found
        made = Ed25519PrivateKey.generate()
        with suppress(FileExistsError):
            _write(file, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            return cls(made)
        return cls.find_or_make(file)

    def seal(self, project_id: ProjectId, number: int, head: AuditHead, at: datetime) -> Checkpoint:
        unsigned = Checkpoint(project_id, number, *head, at, self.public)
        return unsigned._replace(signature=self._private.sign(unsigned.words).hex())

    def sign(self, restoration: Restoration) -> Restoration:
        unsigned = restoration._replace(key=self.public, signature="")
        return unsigned.signed(self._private.sign(unsigned.words).hex())


def is_signed(text: Signed) -> bool:
    """Whether the signature is that of the key which the text names."""
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(text.key))
        public.verify(bytes.fromhex(text.signature), text.words)
    except (ValueError, InvalidSignature):
        return False
    return True


def _write(file: Path, pem: bytes) -> None:
    """Write aside, then give it its name if that is free: nobody ever meets half a key."""
    aside = file.with_name(f"{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(pem)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(aside, file)
    except FileExistsError:
        raise
    except OSError as error:
        raise SetupError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        aside.unlink(missing_ok=True)
