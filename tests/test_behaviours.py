"""No promise without a test, no journey without a promise, no promise without a requirement."""

import ast
import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent
REQUIREMENTS = TESTS.parent / "docs" / "requirements.md"

BEHAVIOURS = tomllib.loads((TESTS / "behaviours.toml").read_text(encoding="utf-8"))["behaviour"]


def marked_ids(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [
        ast.literal_eval(decorator.args[0])
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith(".behaviour")
    ]


def test_functions(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and node.name.startswith("test_"):
                found[f"{path.name}::{node.name}"] = marked_ids(node)
    return found


test_functions.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def test_every_behaviour_is_kept_by_a_test() -> None:
    kept = {behaviour for ids in test_functions(TESTS).values() for behaviour in ids}
    assert {behaviour["id"] for behaviour in BEHAVIOURS} == kept


def test_every_journey_keeps_a_behaviour() -> None:
    aimless = [name for name, ids in test_functions(TESTS / "journeys").items() if not ids]
    assert aimless == []


def test_behaviours_are_told_apart_and_in_whole_sentences() -> None:
    ids = [behaviour["id"] for behaviour in BEHAVIOURS]
    assert len(ids) == len(set(ids))
    assert all(behaviour["sentence"].endswith(".") for behaviour in BEHAVIOURS)


def test_what_is_said_to_be_built_is_what_behaviours_keep() -> None:
    words = REQUIREMENTS.read_text(encoding="utf-8")
    promised = re.findall(r"^\| ([A-Z]\d+) \|", words, re.M)
    (unbuilt,) = re.findall(r"\*\*Not built yet:\*\*(.*?)\. \*\*In part", words, re.S)
    (partly,) = re.findall(r"\*\*In part:\*\*(.*?)\n\n", words, re.S)
    kept = {name for behaviour in BEHAVIOURS for name in behaviour["requires"]}

    assert set(re.findall(r"[A-Z]\d+", unbuilt)) == (
        set(promised) - kept - set(re.findall(r"[A-Z]\d+", partly))
    )


def test_behaviours_name_requirements_that_exist() -> None:
    known = set(re.findall(r"^\| ([A-Z]\d+) \|", REQUIREMENTS.read_text(encoding="utf-8"), re.M))
    named = {name for behaviour in BEHAVIOURS for name in behaviour["requires"]}
    assert known
    assert named <= known
