"""Texts that people read on the command line and in the terminal use plain words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import handrail

ROOMS = ("cli", "tui", "channels")
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
}
_PATTERN = re.compile(rf"\b({'|'.join(UNWANTED)})\b", re.IGNORECASE)
SOURCE = Path(handrail.__file__).parent


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


def test_texts_for_people_use_plain_words() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{line}: “{match[1]}”: {UNWANTED[match[1].lower()]}"
        for room in ROOMS
        for file in sorted((SOURCE / room).rglob("*.py"))
        for line, text in shown_texts(ast.parse(file.read_text(encoding="utf-8")))
        for match in _PATTERN.finditer(text)
    ]
    assert found == []
