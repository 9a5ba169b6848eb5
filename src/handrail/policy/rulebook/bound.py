"""The files that a command runs or obeys, as far as its words tell."""

from collections.abc import Iterable, Sequence
from glob import escape

from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.modules import is_of_several


def bound_files(rule: CommandRule, scripts: Sequence[str], homes: Sequence[str]) -> tuple[str, ...]:
    """What it runs or obeys: there, and in every folder that it may be told to go to."""
    named = [word for word in scripts if word not in ("", "-")]
    endings = rule.script_endings
    named += [word + end for word in named if not word.endswith(endings) for end in endings]
    return in_each_of(homes, [*named, *rule.obeys])


def is_handed_code(rule: CommandRule, operands: Sequence[str], scripts: Sequence[str]) -> bool:
    """Whether it runs what a pipe hands to it: no file is named, or `-` in the place of one."""
    return "-" in scripts or (rule.script and not operands)


def in_each_of(homes: Sequence[str], files: Iterable[str]) -> tuple[str, ...]:
    places = dict.fromkeys(["", *homes, "/".join(homes)])
    return tuple([_within(home, name) if home else name for name in files for home in places])


def _within(home: str, name: str) -> str:
    """Where a name stands for several, the folder it leads from stands for itself."""
    return f"{escape(home) if is_of_several(name) else home}/{name}"
