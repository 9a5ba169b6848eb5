"""docs/reference/command-rules.md: the keys of a `[[command]]`, as the shipped file says them."""

import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import takewhile

from scripts.reference.page import code, page, table

_BARE_TABLE = re.compile(r"(?<!`)\{ .*? \}(?!`)")


def command_keys_page() -> str:
    keys = list(_keys())
    return page(
        "Keys of a command's row",
        "What a `[[command]]` of a [policy file](../howto/policy.md) can say. The least is a name "
        "and an example; without a word on its risk it is high. The shipped rows, in "
        "`policy/rulebook/defaults`, show each of them in use. Subcommands are rows of their "
        "own beneath it, `[[command.sub]]`, with the same keys but for `examples` and `binds`. "
        "A `reason` goes on behind the command's name, and that of a word behind the name and the "
        'word: `reason = "is for people here"` of `make` is told as *make is for people here*. '
        "Keys that decide what really runs, such as `profile`, `before` or `script`, are the "
        "operator's alone; a project's file that has one is refused.",
        table(("key", "what it says"), ((code(key), _marked(text)) for key, text in keys)),
        "Every operand that may name a file is confined to the workspace, whatever the command. "
        "Examples are judged when a file is loaded, by its rules and those beneath them: one that "
        "does not come out as it says makes the file a broken one.",
    )


def _keys() -> Iterator[tuple[str, str]]:
    """Each key that the head of the shipped file describes, with its words on one line."""
    folder = files("handrail.policy.rulebook").joinpath("defaults")
    text = folder.joinpath("commands.toml").read_text(encoding="utf-8")
    yield "name", "the command's name, without a folder; `*` stands for anything"
    yield "names", "several that all of the row holds for, instead of `name`"
    yield "examples", "command lines and what they come to, one at least"
    told = [line.removeprefix("#").removeprefix(" ") for line in text.splitlines()]
    first = next(at for at, line in enumerate(told) if line.startswith("risk "))
    key, words = "", list[str]()
    for line in takewhile(bool, told[first:]):
        if line.startswith(" "):
            words.append(line.strip())
            continue
        if key:
            yield key, " ".join(words)
        key, _, text = line.partition(" ")
        words = [text.strip()]
    yield key, " ".join(words)


def _marked(text: str) -> str:
    return _BARE_TABLE.sub(lambda found: code(found[0]), text)
