"""The flags in one word, and what they take for their values."""

from collections.abc import Iterable, Sequence

from handrail.policy.rulebook.command import CommandRule

MOST_IN_CLUSTER = 32
_NO = "no-"
# Behind these a file is a copy that nothing reads or runs.
_OF_COPIES = ("", "~", ".bak", ".backup", ".old", ".orig", ".patch", ".tmp")


def names_in(word: str, rule: CommandRule) -> list[str]:
    """The flags in one word: `-rn` are two, unless the command knows no clusters.

    Nobody writes more of them than `MOST_IN_CLUSTER`; one more is found, and the rest is not read.
    """
    if rule.letters:
        name = word.lstrip("-").partition("=")[0]
        return [f"-{one}" for one in name] if _is_of(rule.letters, name) else [f"--{name}"]
    if not _is_cluster(word, rule):
        return [word.partition("=")[0]]
    if "-#" in rule.flags and word[1:].isdecimal():
        return ["-#"]
    name, closing = word[:2], rule.closing
    names = [name]
    for letter in word[2 : MOST_IN_CLUSTER + 2]:
        if name in closing or not (letter.isalnum() or rule.punctuated):
            break
        name = f"-{letter}"
        names.append(name)
    return names


def ends_flags(word: str, rule: CommandRule) -> bool:
    """Whether all words behind this one are operands."""
    return word == "--" or bool(rule.letters and len(word) > 1 and not word.strip("-"))


def also_meant(word: str, rule: CommandRule) -> list[str]:
    """What a word means too, with `letters`: a cluster can be a long flag cut short.

    To say no to a no is to say yes, as `--no-global=false` does.
    """
    name = word.lstrip("-").partition("=")[0]
    if not rule.letters or len(name) < 2:
        return []
    found = [f"--{name}"]
    while name.casefold().startswith(_NO):
        name = name[len(_NO) :]
        found.append(f"--{name}")
    return found


def unclear_in(word: str, names: Sequence[str], rule: CommandRule, ahead: Sequence[str]) -> str:
    """Why, with `letters`, it depends on the program which words are a flag's value.

    What stands behind the `=` of a flag without a value is an operand. What looks like a flag is
    the value of some flags, and not of others; so is the next letter of a cluster.
    """
    value, flag = _behind_mark(word), rule.in_full(names[-1])
    if not rule.letters or not rule.knows(flag):
        return ""
    is_followed = value is None and bool(ahead) and ahead[0].startswith("-")
    if any(map(rule.takes_value, names[:-1])) or (rule.takes_value(flag) and is_followed):
        return "can be read in several ways; write its value behind a `=`"
    if rule.takes_value(flag) or value in (None, "true", "false"):
        return ""
    return "has no value, so that what stands behind the `=` is a word of its own"


def value_in(word: str, flag: str, rule: CommandRule) -> str | None:
    """What a flag that takes a value has in its own word; None where the next word is the value."""
    return _attached(word, flag) if _is_cluster(word, rule) else _behind_mark(word)


def suffix_in(word: str, flag: str, rule: CommandRule, following: Sequence[str]) -> str | None:
    """What a flag has the names of new files end in; None where it is known to be harmless."""
    value = value_in(word, flag, rule)
    if value is None and rule.takes_value(flag):
        value = next(iter(following), "")
    return None if value is None or value in _OF_COPIES else value


def possible_values(
    word: str, names: Sequence[str], unknown: Iterable[str], rule: CommandRule
) -> list[str]:
    """What flags that nobody described may take for a value: in `-qF/x`, `F/x` or `/x`."""
    takes_value = names[-1] in rule.closing
    if not _is_cluster(word, rule):
        attached = "" if word.startswith("--") or rule.knows(names[0]) else word[2:]
        return [] if takes_value else [_behind_mark(word) or "", attached]
    if rule.is_strict or takes_value:
        return [_attached(word, name) or "" for name in unknown]
    return [word[start:] for start in range(2, 2 + len(names))]


def _is_cluster(word: str, rule: CommandRule) -> bool:
    return rule.clusters and not rule.letters and not word.startswith("--")


def _is_of(letters: str, name: str) -> bool:
    return bool(name) and all(one in letters for one in name)


def _behind_mark(word: str) -> str | None:
    """`x` in `--out=x`; None where the next word would be the value."""
    _, mark, value = word.partition("=")
    return value if mark else None


def _attached(word: str, flag: str) -> str | None:
    """`x` in `-ox`; None where the next word would be the value."""
    return word[word.index(flag[1], 1) + 1 :] or None
