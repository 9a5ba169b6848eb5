"""Passwords that somebody has written into a sentence: `set the password: hunter2 for ada`."""

import re

# Behind these a plain word can be the secret itself; behind the others it hardly is.
_PASSWORDS = r"pass(?:word|wd|phrase|code)|secret|credential"
_OTHERS = r"token|api[_ -]?key|access[_ -]?key|private[_ -]?key|session[_-]?key|cookie"
_TOLD = re.compile(
    rf"(?P<name>(?:(?P<password>{_PASSWORDS})|{_OTHERS})[\w-]{{0,40}}\s{{0,3}}:\s{{1,3}})"
    # Nothing that could be called, nor a part of such a thing.
    r"(?P<value>[A-Za-z0-9_.+/=!?#%@^*~-]{1,4000})(?=[\s,;'\")]|\Z)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\s{1,3}[A-Za-z]")
_TYPES = frozenset(
    (
        *("any", "bool", "bytes", "dict", "float", "int", "list", "none", "null", "number"),
        *("optional", "str", "string"),
    )
)
# With these a sentence goes on that only speaks of a password.
_WORDS = frozenset(
    (
        *("a", "an", "and", "any", "are", "as", "ask", "at", "be", "by", "can", "change", "check"),
        *("do", "does", "for", "from", "get", "has", "how", "if", "in", "is", "it", "keep", "let"),
        *("make", "may", "must", "my", "never", "no", "not", "of", "on", "only", "or", "our"),
        *("please", "read", "reset", "see", "set", "should", "that", "the", "their", "this", "to"),
        *("use", "was", "we", "what", "when", "where", "which", "will", "with", "you", "your"),
    )
)
_MIXED = re.compile(r"[a-z].*[0-9A-Z]|[0-9]")
_LONG = 16


def mask_told(text: str, mask: str) -> str:
    """Cover what stands behind `password: ` and the like, unless it is plainly part of a sentence.

    For text that is told to somebody, such as a message: where a shell would read it, the next word
    could be one that is run.
    """

    def covered(match: re.Match[str]) -> str:
        return match["name"] + mask if _is_secret(match) else match[0]

    return _TOLD.sub(covered, text)


def _is_secret(match: re.Match[str]) -> bool:
    value = match["value"]
    if value.lower() in _TYPES:
        return False
    if _MIXED.search(value) or len(value) >= _LONG:
        return True
    if match["password"] is None:
        return False
    return not (value.lower() in _WORDS and _GOES_ON.match(match.string, match.end()))
