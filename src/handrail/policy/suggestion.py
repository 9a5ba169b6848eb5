"""Rules out of what people were asked: the row of a project's file that ends the asking.

A project's file can only tighten, so what is suggested is a refusal. Each row is read and held
against the call before it is shown: what would not work as told is not suggested.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from handrail.core.errors import RuleError
from handrail.core.risk import Layer, RiskLevel, worst
from handrail.core.suggestion import Suggestion
from handrail.policy.rulebook.book import PROJECT_FILE
from handrail.policy.rulebook.reading import in_full
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.commands import CommandValidator

_REASON = "refused here without asking"
_MOST_WORDS = 20
_ANYWHERE = "/"


def suggest_refusal(tool_name: str, class_key: str, params: Mapping[str, Any]) -> Suggestion | None:
    """The row that refuses what a class holds; without a class, every call of the tool."""
    is_exact = class_key.startswith("exactly:")
    return _suggest(tool_name, class_key, tuple(_words_of(params)) if is_exact else ())


@lru_cache(200)  # The same classes are looked at again and again.
def _suggest(tool_name: str, class_key: str, words: tuple[str, ...]) -> Suggestion | None:
    kind, _, rest = class_key.partition(":")
    match kind:
        case "write_file":
            return _refuse_writes(rest)
        case "command":
            return _refuse_command(rest.partition(":")[2].partition("@")[0].split())
        case "exactly":
            return _refuse_exactly(words)
        case "":
            return _refuse_tool(tool_name)
        case _:
            return None


def _refuse_writes(pattern: str) -> Suggestion | None:
    *folders, name = pattern.split("/")
    ending = name.removeprefix("*.")
    caught = "/".join([*folders[:1], f"example.{ending}"])
    spared = f"elsewhere/example.{ending}" if folders else f"example.not-{ending}"
    slug = re.sub(r"[^A-Za-z0-9]+", "-", pattern).strip("-")
    text = _row(
        "write",
        name=f"asked-{slug}",
        risk="forbidden",
        reason=_REASON,
        patterns=[pattern],
        match=[caught],
        not_match=[spared],
    )
    where = f"below a folder called {in_full(folders[0])}" if folders else "in any folder"
    covers = f"Refuses every write to *.{ending} {where}, by any tool."
    return _if_it_reads(text, covers)


def _refuse_command(words: Sequence[str]) -> Suggestion | None:
    """Refuse a command, a subcommand, or a Python module (`python3 -m pytest`)."""
    if not 1 <= len(words) <= 3:
        return None
    name = words[0].rpartition("/")[2]
    line = " ".join([name, *words[1:]])
    text = _row(
        "command",
        name=line,
        risk="forbidden",
        reason=f"is {_REASON}",
        examples={line: "forbidden"},
    )
    also = "" if len(words) > 1 else ", also where it would only read"
    covers = f"Refuses {in_full(line)}, with any arguments after it{also}."
    return _if_it_refuses(text, covers, words)


def _refuse_exactly(words: Sequence[str]) -> Suggestion | None:
    """Rules know words and not whole lines: the last word that is no flag is refused."""
    operands = [word for word in words[1:] if not word.startswith("-")]
    if not words:
        return None
    name = words[0].rpartition("/")[2]
    if not operands:
        return _refuse_command([name])
    last = operands[-1]
    if any(char in last for char in "*?[ \t\n"):
        return None
    text = _row(
        "command",
        name=name,
        risk="low",
        refuses={last: f"is {_REASON}"},
        examples={shlex.join([name, *words[1:]]): "forbidden"},
    )
    covers = f"Refuses {in_full(name)} wherever {in_full(last)} is one of its arguments."
    return _if_it_refuses(text, covers, words)


def _refuse_tool(tool_name: str) -> Suggestion | None:
    text = _row("tool", name=tool_name, risk="forbidden", reason=f"is {_REASON}")
    covers = (
        f"Refuses every call of {in_full(tool_name)}, including those that run without "
        f"asking today."
    )
    return _if_it_reads(text, covers) if "*" not in tool_name else None


def _words_of(params: Mapping[str, Any]) -> list[str]:
    """The words of a command, however it was asked for."""
    command, args = params.get("command"), params.get("args", [])
    if not isinstance(command, str):
        return []
    if args:
        return [command, *map(str, cast(list[object], args))]
    try:
        return shlex.split(command)[:_MOST_WORDS]
    except ValueError:
        return []


def _row(section: str, **values: object) -> str:
    lines = [f"{key} = {_toml(value)}" for key, value in values.items()]
    return "\n".join([f"[[{section}]]", *lines]) + "\n"


def _toml(value: object) -> str:
    match value:
        case dict():
            pairs = cast(dict[str, object], value).items()
            return f"{{ {', '.join(f'{_key(key)} = {_toml(one)}' for key, one in pairs)} }}"
        case list():
            items = [_toml(one) for one in cast(list[object], value)]
            is_long = any(item.startswith("{") for item in items)
            return (
                "[\n" + "".join(f"    {item},\n" for item in items) + "]"
                if is_long
                else (f"[{', '.join(items)}]")
            )
        case _:
            # A text of JSON is one of TOML, as long as every character in it can be seen.
            return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _read(text: str) -> Rules | None:
    if not text.replace("\n", "").isprintable():
        return None
    try:
        return Rules.parse(text, source=PROJECT_FILE, layer=Layer.PROJECT)
    except RuleError:
        return None


def _if_it_reads(text: str, covers: str) -> Suggestion | None:
    return None if _read(text) is None else Suggestion(text, covers)


def _if_it_refuses(text: str, covers: str, words: Sequence[str]) -> Suggestion | None:
    rules = _read(text)
    if rules is None:
        return None
    validator = CommandValidator(_ANYWHERE, default_rules().tightened_by(rules))
    refused = worst(validator.validate_command(words[0], words[1:])) is RiskLevel.FORBIDDEN
    return Suggestion(text, covers) if refused else None
