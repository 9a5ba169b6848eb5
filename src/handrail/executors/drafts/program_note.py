"""ProgramNote: which program runs over a draft, for the next client if this one is killed."""

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from handrail.core.draft import DraftStep
from handrail.core.rehearsal import CallRef

_FILE = "program.json"
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_KILLED = (
    "Handrail's client was killed while it ran, and the program with it: hosts that it reached and"
    " changes of its settings are not known"
)
_REBOOTED = "the machine was restarted while it ran: files may be incomplete"


@dataclass(frozen=True, slots=True)
class ProgramNote:
    """`stand` names the layers that the program writes to; `boot` the start of the machine."""

    session_id: str
    tool_id: str
    title: str
    began_ns: int
    boot: str
    stand: str = ""

    @classmethod
    def of(cls, call: CallRef, title: str) -> Self:
        return cls(call.session_id, call.tool_id, title, time.time_ns(), _boot())

    @classmethod
    def find(cls, folder: Path) -> Self | None:
        """The note in the folder of a draft, if a program was interrupted there."""
        try:
            return cls(**json.loads((folder / _FILE).read_bytes()))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    @staticmethod
    def remove(folder: Path) -> None:
        (folder / _FILE).unlink(missing_ok=True)

    def write(self, folder: Path, stand: str) -> None:
        told = asdict(replace(self, stand=stand))
        (folder / _FILE).write_text(json.dumps(told), encoding="utf-8")

    def describe(self, step: DraftStep) -> DraftStep:
        notes = (_KILLED,) if self.boot == _boot() else (_KILLED, _REBOOTED)
        return replace(step, notes=(*notes, *step.notes))


def folders_with_notes(base: Path) -> list[Path]:
    """The folders of drafts in which a program was interrupted."""
    return sorted(note.parent for note in base.glob(f"*/{_FILE}"))


def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""
