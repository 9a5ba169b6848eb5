"""The plain settings of a policy file: its `[policy]` table."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar, cast

from handrail.core.errors import RuleError
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, Layer, RiskLevel

E = TypeVar("E", bound=StrEnum)


class Unlisted(StrEnum):
    """Whether a command without a row is asked about, or refused."""

    REFUSE = "refuse"
    ASK = "ask"


class Commands(StrEnum):
    """Whether commands are rehearsed where that is possible, or asked about beforehand."""

    REHEARSE = "rehearse"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """No agent is given more freedom than this, whatever its project says."""

    autonomy: Autonomy
    layer: Layer

    def lower(self, autonomy: Autonomy) -> Autonomy:
        return min(autonomy, self.autonomy, key=list(Autonomy).index)

    @property
    def finding(self) -> Finding:
        reason = f"autonomy is at most {self.autonomy} here"
        return Finding("policy.autonomy", reason, RiskLevel.LOW).by(self.layer)


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What one file says; None where it says nothing."""

    unlisted: Unlisted | None = None
    autonomy: Autonomy | None = None
    commands: Commands | None = None


def read_settings(document: Mapping[str, Any], source: str) -> PolicySettings:
    table: object = document.get("policy", {})
    if not isinstance(table, dict):
        raise RuleError(f"{source}: settings are written as one table, [policy]")
    values = cast(dict[str, object], table)
    known = ("unlisted", "autonomy", "commands")
    if "packs" in values:
        raise RuleError(
            f"{source}: [policy]: delete `packs`; the commands of all toolchains are known now"
        )
    if unknown := sorted(set(values) - set(known)):
        raise RuleError(
            f"{source}: [policy]: unknown key {unknown[0]!r}; known: {', '.join(known)}"
        )
    return PolicySettings(
        unlisted=_one_of(Unlisted, values, "unlisted", source),
        autonomy=_one_of(Autonomy, values, "autonomy", source),
        commands=_one_of(Commands, values, "commands", source),
    )


def _one_of(kind: type[E], values: Mapping[str, object], key: str, source: str) -> E | None:
    if key not in values:
        return None
    try:
        return kind(cast(str, values[key]))
    except ValueError:
        choices = ", ".join(kind)
        raise RuleError(
            f"{source}: [policy]: {key} is one of {choices}, not {values[key]!r}"
        ) from None
