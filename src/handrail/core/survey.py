"""What only the machine knows of a call, found out before anybody is asked."""

from dataclasses import dataclass, field
from typing import Any

from handrail.core.risk import Finding
from handrail.core.tool import JsonObject


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts an approval is bound to, further reasons for concern, and evidence to look at.

    Facts go into the digest: where they differ when the call is executed, it is not executed, and
    their names say what has changed. Findings can raise a verdict, never lower it. `evidence` is
    text to look at: a unified diff, or the commands that would run and the files they are bound to.
    It is stored, so it is masked. `unmasked` is the same text in full, sent only to a person who
    decides; None where the tool masks nothing. `summary` is the title of the card, where the
    machine knows a better one than the words of the call give. A call that `changes_nothing` as
    long as its facts hold needs no approval. One that was `rehearsed` is judged by these findings
    instead of its words: they tell everything that it would change.
    """

    facts: JsonObject = field(default_factory=dict[str, Any])
    findings: tuple[Finding, ...] = ()
    evidence: str = ""
    unmasked: str | None = None
    summary: str = ""
    changes_nothing: bool = False
    rehearsed: bool = False

    @property
    def in_full(self) -> str:
        """The evidence with nothing masked."""
        return self.evidence if self.unmasked is None else self.unmasked
