"""A record in a file of its own, that can be proven where no database is.

JSON lines: what it is, every line of the record, and at the end a signed checkpoint.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TextIO

import msgspec

from handrail.app.audit import OnPage, Verification, verify
from handrail.app.clock import SystemClock
from handrail.app.home import Home
from handrail.core.audit import BEGINNING, AuditEntry, AuditHead, canonical, find_misfit
from handrail.core.checkpoint import (
    Checkpoint,
    named_key,
    read_checkpoint,
    short_key,
    write_checkpoint,
)
from handrail.core.errors import BadInput, BrokenRecord, SetupError
from handrail.core.ids import ProjectId
from handrail.store.audit_key import AuditKey, is_signed

_KIND = "handrail audit 1"


@dataclass(frozen=True, slots=True)
class _Header:
    kind: str
    project_id: str
    key: str
    after: int
    previous: str


@dataclass(frozen=True, slots=True)
class _Line:
    seq: int
    at: str
    action: str
    actor: str
    subject: str
    details: str
    hash: str


class Exporter:
    """Writes the lines behind `after`, and none before `since`, as they are proven."""

    def __init__(self, home: Home, project_id: str, output: TextIO):
        self._home = home
        self._project_id = ProjectId(project_id)
        self._output = output
        self._key = _get_key(home)
        self._end = BEGINNING
        self._begun = False

    async def export(
        self,
        *,
        after: int = 0,
        since: datetime | None = None,
        on_page: OnPage = lambda page, lines: None,
    ) -> int:
        """How many lines were written. All of the record is proven, also what is left out.

        Raises:
            BrokenRecord: It is not whole; what was written has no checkpoint at its end.
        """
        written = 0

        def take(page: list[AuditEntry], lines: int) -> None:
            nonlocal written
            for line in page:
                if self._begun or (line.seq > after and (since is None or line.at >= since)):
                    self._write(line)
                    written += 1
                self._end = AuditHead(line.seq, line.hash)
            on_page(page, lines)

        found = await verify(self._home, self._project_id, on_page=take)
        if found.broken is not None:
            raise BrokenRecord(f"the audit log is broken, and was not exported: {found.broken}")
        if not self._begun:
            self._begin()
        now = SystemClock().now()
        sealed = self._key.seal(self._project_id, 0, self._end, now)
        self._output.write(f"{write_checkpoint(sealed)}\n")
        return written

    def _begin(self) -> None:
        header = _Header(_KIND, self._project_id, self._key.public, *self._end)
        self._output.write(f"{canonical(msgspec.to_builtins(header))}\n")
        self._begun = True

    def _write(self, line: AuditEntry) -> None:
        if not self._begun:
            self._begin()
        told = _Line(
            line.seq, line.at.isoformat(), line.action, line.actor, line.subject, line.details,
            line.hash,
        )  # fmt: skip
        self._output.write(f"{canonical(msgspec.to_builtins(told))}\n")


def _get_key(home: Home) -> AuditKey:
    if (key := AuditKey.find(home.audit_key)) is None:
        raise SetupError(f"there is no {home.audit_key} yet; `handrail up` creates one")
    return key


@dataclass(frozen=True, slots=True)
class ExportProof:
    """What an export holds, if it is whole: the lines behind `after`."""

    project_id: str
    after: int
    found: Verification


def verify_export(lines: Iterable[str], key: str | None = None) -> ExportProof:
    """Prove an export. Without a `key` it proves only what whoever has the one it names signed.

    Raises:
        BadInput: It is no export.
    """
    rest = iter(lines)
    header = _read_header(next(rest, ""))
    trusted = key or header.key
    end, sealed = AuditHead(header.after, header.previous), None
    broken: str | None = None
    try:
        for text in rest:
            if sealed is not None:
                raise BrokenRecord("lines were added after its last checkpoint")
            known = _read_line(text, end.seq)
            if "signature" in known:
                sealed = read_checkpoint(text)
            else:
                end = _follow(header, known, end, trusted)
        _hold_against(header, end, sealed, trusted)
    except BrokenRecord as error:
        broken = str(error)
    return ExportProof(
        header.project_id, header.after, Verification(end.seq, sealed, trusted, broken)
    )


def _read_header(text: str) -> _Header:
    try:
        header = msgspec.convert(json.loads(text), _Header)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            "this is not an exported audit log; `handrail audit export` writes one"
        ) from error
    if header.kind != _KIND:
        raise BadInput(f"this export has the format {header.kind!r}; this version reads {_KIND!r}")
    return header


def _read_line(text: str, after: int) -> dict[str, Any]:
    try:
        return msgspec.convert(json.loads(text), dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise BrokenRecord(f"what follows line {after} cannot be read") from error


def _follow(header: _Header, known: dict[str, Any], end: AuditHead, key: str) -> AuditHead:
    try:
        line = msgspec.convert(known, _Line)
        at = datetime.fromisoformat(line.at)
    except ValueError as error:
        raise BrokenRecord(f"what follows line {end.seq} cannot be read") from error
    entry = AuditEntry(
        ProjectId(header.project_id), line.seq, at, line.action, line.actor, line.subject,
        line.details, end.hash, line.hash,
    )  # fmt: skip
    if (broken := find_misfit(end, entry)) is not None:
        raise BrokenRecord(broken)
    if line.seq == 1 and (named := named_key(entry)) not in (None, key):
        raise BrokenRecord(
            f"the key was changed: this audit log began with key {short_key(str(named))}"
        )
    return AuditHead(entry.seq, entry.hash)


def _hold_against(header: _Header, end: AuditHead, sealed: Checkpoint | None, key: str) -> None:
    if sealed is None:
        raise BrokenRecord(f"it ends at line {end.seq} without a checkpoint: its end was cut off")
    if sealed.key != key:
        raise BrokenRecord(f"it was signed with another key, {short_key(sealed.key)}")
    if sealed.project_id != header.project_id or not is_signed(sealed):
        raise BrokenRecord("its checkpoint is forged: the signature is not valid")
    if sealed.seq != end.seq:
        raise BrokenRecord(
            f"it ends at line {end.seq}, but line {sealed.seq} was sealed: lines are missing"
        )
    if sealed.hash != end.hash:
        raise BrokenRecord(
            f"line {end.seq} is not the one that was sealed: the audit log was rewritten"
        )
