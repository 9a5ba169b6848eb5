"""The words of a text that carry its subject."""

import re

_WORD = re.compile(r"\w+")
_MOST_CHARS = 4_000
_MOST_WORDS = 32
_AROUND = ".,;:!?()[]{}<>'\"`"

# They stand in nearly every sentence, and say nothing about what it is about.
_EMPTY = frozenset(
    _WORD.findall("""
    a about after all also am an and any are as at be because been before being but by can could
    did do does doing done for from get got had has have having he her here hers him his how i if
    in into is it its itself just let like may me might mine more most must my no nor not of off on
    once only or other our ours out over own please s same shall she should so some such t than
    that the their theirs them then there these they this those through to too under until up us
    use used using very was we were what when where which while who whom whose why will with would
    you your yours""")
)


def content_words(text: str) -> list[str]:
    """Each word once, small, in the order of the text; the empty ones only if there are no others.

    Bounded: of a long text, its beginning.
    """
    found = dict.fromkeys(word.lower() for word in _WORD.findall(text[:_MOST_CHARS]))
    full = [word for word in found if word not in _EMPTY]
    return (full or list(found))[:_MOST_WORDS]


def names_in(text: str) -> list[str]:
    """The words that only name something, such as `HX-4711` or `max_retries`: small, each once."""
    words = (word.strip(_AROUND).lower() for word in text[:_MOST_CHARS].split())
    return list(dict.fromkeys(filter(_is_name, words)))[:_MOST_WORDS]


def _is_name(word: str) -> bool:
    """A number alone is an amount more often than a name."""
    return not word.isdecimal() and any(sign == "_" or sign.isdigit() for sign in word)
