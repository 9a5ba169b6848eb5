"""Small words for notes."""

from collections.abc import Iterable

from handrail.core.effects import GitNote, GitWeight

_MOST_NAMED = 4
_ENDS = str.maketrans({mark: f"\\u{{{ord(mark):x}}}" for mark in "“”"})


def refused(words: str) -> GitNote:
    return GitNote(GitWeight.REFUSED, words)


def loss(words: str) -> GitNote:
    return GitNote(GitWeight.LOSS, words)


def setting(words: str) -> GitNote:
    return GitNote(GitWeight.SETTING, words)


def change(words: str) -> GitNote:
    return GitNote(GitWeight.CHANGE, words)


def quoted(text: str) -> str:
    """Words of others, which cannot end the quotation."""
    return f"“{text.translate(_ENDS)}”"


def some(names: Iterable[str], most: int = _MOST_NAMED) -> str:
    """The first names, and how many more there are."""
    listed = [*names]
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more:,} more" if more > 0 else "")


def count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
