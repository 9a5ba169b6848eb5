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
        "The keys of a `[[command]]` in a [policy file](../howto/policy.md). A row needs a "
        "name and an example; without a `risk` it is high. The shipped rows are in "
        "`policy/rulebook/defaults/commands.toml` and `accounts.toml`. A subcommand is a row of "
        "its own with both "
        'words in its name, such as `name = "git log"`; the row with the longest name counts. A '
        "`reason` continues a sentence that begins with the command. `runs`, `obeys`, `needs` and "
        "`adds` decide what really runs, so a project's file may not contain them.",
        table(("key", "what it says"), ((code(key), _marked(text)) for key, text in keys)),
        "Examples are judged when the file is loaded, by its rules over those beneath them. A file "
        "with an example that comes out otherwise is refused.",
    )


def _keys() -> Iterator[tuple[str, str]]:
    """Each key that the head of the shipped file describes, with its words on one line."""
    folder = files("handrail.policy.rulebook").joinpath("defaults")
    text = folder.joinpath("commands.toml").read_text(encoding="utf-8")
    yield "name", "the command, with up to two further words; `*` stands for anything"
    yield "names", "several commands that the row holds for, instead of `name`"
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
