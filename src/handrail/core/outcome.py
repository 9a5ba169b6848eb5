"""How a command ended, and what it printed."""

from dataclasses import dataclass
from enum import StrEnum

from handrail.core.box import Wall
from handrail.core.traffic import NO_TRAFFIC, Traffic


class Ending(StrEnum):
    """How a command came to its end."""

    EXITED = "exited"
    KILLED = "killed"
    TIMED_OUT = "timed_out"
    # Between two of its steps, because the next one was no longer what had been seen.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The output and exit of a command; `…_lost` counts bytes that were not kept.

    `walls` are what kept it in; none where there was no box. `traffic` is what went through the
    only way out of the boxes that had one. `kept_from_it` are files and folders of the workspace
    that it could not see, by their paths from the root. `why_stopped` is a sentence, where it was.
    """

    stdout: bytes
    stderr: bytes
    ending: Ending
    exit_code: int | None
    seconds: float
    stdout_lost: int = 0
    stderr_lost: int = 0
    walls: tuple[Wall, ...] = ()
    traffic: Traffic = NO_TRAFFIC
    kept_from_it: tuple[str, ...] = ()
    why_stopped: str = ""
