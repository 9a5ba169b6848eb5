"""The files that a command runs or obeys, as far as its words tell."""

from collections.abc import Iterable, Sequence

from handrail.policy.rulebook.command import CommandRule


def bound_files(rule: CommandRule, scripts: Sequence[str], homes: Sequence[str]) -> tuple[str, ...]:
    """What it runs or obeys: there, and in every folder that it may be told to go to."""
    named = [word for word in scripts if word not in ("", "-")]
    endings = rule.script_endings
    named += [word + end for word in named if not word.endswith(endings) for end in endings]
    return in_each_of(homes, [*named, *rule.obeys])


def in_each_of(homes: Sequence[str], files: Iterable[str]) -> tuple[str, ...]:
    places = dict.fromkeys(["", *homes, "/".join(homes)])
    return tuple([f"{home}/{name}" if home else name for name in files for home in places])
