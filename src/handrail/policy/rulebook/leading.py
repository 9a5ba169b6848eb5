"""Words in front of a subcommand, where the program and we could differ on which word that is.

A flag that takes the next word for its value, while we think that it does not, makes another word
the subcommand; and what a program takes for flags differs from one of its versions to the next.
"""

from collections.abc import Iterator, Sequence

from handrail.core.risk import Finding
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.concerns import not_allowed
from handrail.policy.rulebook.reading import shown

_HOW = "write the subcommand first, and use working_dir for another folder"


def refuse_leading(rule: CommandRule, title: str, words: Sequence[str]) -> Iterator[Finding]:
    """Refuse what stands in front of the subcommand, but for what is known to stand there."""
    if rule.leading is None:
        return
    at = _end_of_leading(rule, words)
    rest = words[at:]
    if not rest:
        return
    if _is_flag(rest[0]):
        # Without any other word there is no subcommand that could be mistaken.
        if not all(word in rule.flags for word in words):
            yield _refusal(title, rest[0])
    elif at and not rule.subs_named(rest[0]):
        yield _refusal(title, words[0])


def _end_of_leading(rule: CommandRule, words: Sequence[str]) -> int:
    at = 0
    while at < len(words) and _may_lead(rule, words[at]):
        takes_next = rule.takes_value(words[at])
        if takes_next and (at + 1 == len(words) or _is_flag(words[at + 1])):
            break
        at += 2 if takes_next else 1
    return at


def _may_lead(rule: CommandRule, word: str) -> bool:
    name, mark, _ = word.partition("=")
    return word in (rule.leading or ()) or bool(
        mark and name in (rule.leading or ()) and rule.takes_value(name)
    )


def _is_flag(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _refusal(title: str, word: str) -> Finding:
    reason = f"{title} {shown(word)} stands where the subcommand belongs; {_HOW}"
    return not_allowed(reason)
