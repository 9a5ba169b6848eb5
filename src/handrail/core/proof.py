"""RecordProof: a record and its checkpoints, followed side by side from first to last.

Nothing is kept but how far both have come, however long they are.
"""

from collections.abc import Callable, Iterator, Sequence

from handrail.core.audit import BEGINNING, AuditEntry, AuditHead, find_misfit
from handrail.core.checkpoint import Checkpoint, Signed, named_key, short_key
from handrail.core.errors import BrokenRecord
from handrail.core.ids import ProjectId
from handrail.core.restoration import RESTORED, Restoration, read_restoration


class RecordProof:
    """`key` is the public key that is trusted, if any; `head` what the project itself says.

    `restorations` are read from the record beforehand: checkpoints that a restore left behind are
    in the file long before the line that says so is reached. Each is held against its line.

    Every method raises BrokenRecord at the first thing that is not as it was written, in one
    sentence.
    """

    def __init__(
        self,
        project_id: ProjectId,
        checkpoints: Iterator[Checkpoint],
        is_signed: Callable[[Signed], bool],
        *,
        key: str | None,
        head: AuditHead,
        restorations: Sequence[Restoration] = (),
    ):
        self._project_id = project_id
        self._checkpoints = checkpoints
        self._is_signed = is_signed
        self._key = key
        self._head = head
        self._restorations = restorations
        self._number = 0
        self._names_its_key = False
        self._coming: Checkpoint | None = None
        self._last: Checkpoint | None = None
        self._end = BEGINNING

    @property
    def lines(self) -> int:
        return self._end.seq

    @property
    def last_checkpoint(self) -> Checkpoint | None:
        """The last one that was found to be true."""
        return self._last

    def follow(self, entry: AuditEntry) -> None:
        """Take the next line."""
        if (broken := find_misfit(self._end, entry)) is not None:
            raise BrokenRecord(broken)
        self._end = AuditHead(entry.seq, entry.hash)
        if entry.seq == 1:
            self._hold_against_its_key(entry)
        if entry.action == RESTORED:
            self._check_restoration(entry)
        if entry.seq == self._head.seq and entry.hash != self._head.hash:
            raise BrokenRecord(
                f"line {entry.seq} is not the one that its project counts as its last"
            )
        coming = self._peek()
        if coming is not None and coming.seq == entry.seq:
            self._pass(coming)

    def finish(self, head: AuditHead) -> None:
        """The record has no more lines; `head` is what the project says now."""
        if self._end.seq < self._head.seq:
            raise BrokenRecord(
                f"the record ends at line {self._end.seq}, but its project counts"
                f" {self._head.seq} lines: its tail was cut"
            )
        if self._end.seq > head.seq:
            raise BrokenRecord(
                f"its project counts {head.seq} lines, but the record goes on to line"
                f" {self._end.seq}: lines were added behind its end"
            )
        if (ahead := self._peek()) is not None:
            raise BrokenRecord(
                f"the record ends at line {self._end.seq}, but line {ahead.seq} was sealed on"
                f" {ahead.at:%d %b %Y at %H:%M:%S}: an older copy of the database was put back,"
                " or its tail was cut"
            )
        if any(self._number < one.left for one in self._restorations):
            raise BrokenRecord(f"checkpoint {self._number + 1} is missing")
        if self._names_its_key and self._last is None:
            raise BrokenRecord("the checkpoints are missing: this record was sealed from line 1 on")

    def _hold_against_its_key(self, first: AuditEntry) -> None:
        named = named_key(first)
        self._names_its_key = named is not None
        if named is None or named == self._key:
            return
        if self._key is None:
            raise BrokenRecord(f"the key {short_key(named)}, which sealed this record, is missing")
        raise BrokenRecord(
            f"the key was changed: this audit log began with key {short_key(named)},"
            f" and the one here is {short_key(self._key)}"
        )

    def _check_restoration(self, entry: AuditEntry) -> None:
        found = read_restoration(entry)
        is_here = AuditHead(found.seq, found.hash) == (entry.seq - 1, entry.previous)
        is_ours = found.key == self._key and self._is_signed(found)
        if found not in self._restorations or not is_here or not is_ours:
            raise BrokenRecord(
                f"line {entry.seq} says that a backup was restored, but it is forged:"
                " its signature does not hold"
            )

    def _pass(self, sealed: Checkpoint) -> None:
        if sealed.hash != self._end.hash:
            raise BrokenRecord(
                f"line {sealed.seq} is not the one that checkpoint {sealed.number} sealed:"
                " the record was rewritten"
            )
        if self._last is None and self._names_its_key and sealed.seq != 1:
            raise BrokenRecord(
                f"the first checkpoints are missing: line {sealed.seq} is the first one sealed,"
                " and line 1 was"
            )
        self._last, self._coming = sealed, None

    def _peek(self) -> Checkpoint | None:
        """The next checkpoint of this chain; those that a restore left behind are passed over."""
        while self._coming is None and (found := next(self._checkpoints, None)) is not None:
            is_left = any(one.leaves_behind(found.number) for one in self._restorations)
            self._check(found, is_left=is_left)
            self._number = found.number
            self._coming = None if is_left else found
        return self._coming

    def _check(self, found: Checkpoint, *, is_left: bool) -> None:
        expected = self._number + 1
        if found.number != expected:
            raise BrokenRecord(f"checkpoint {expected} is missing")
        if self._key is None:
            raise BrokenRecord(f"the key {short_key(found.key)}, which sealed it, is missing")
        if found.key != self._key:
            raise BrokenRecord(
                f"the key was changed: checkpoint {found.number} was signed with"
                f" {short_key(found.key)}, and the one here is {short_key(self._key)}"
            )
        follows = is_left or found.seq > (0 if self._last is None else self._last.seq)
        if found.project_id != self._project_id or not follows or not self._is_signed(found):
            raise BrokenRecord(f"checkpoint {found.number} is forged: its signature does not hold")
