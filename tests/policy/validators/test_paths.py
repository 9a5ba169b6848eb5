import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.risk import RiskLevel
from handrail.policy.rulebook.rules import Rules
from handrail.policy.validators.paths import MAX_PATH_CHARS, PathValidator

ROOT = "/home/ada/project"
CORPUS = Path(__file__).parent.parent / "corpus" / "paths.toml"
CASES: list[dict[str, Any]] = tomllib.loads(CORPUS.read_text(encoding="utf-8"))["case"]
ALLOWED = [case for case in CASES if case["expected"] == "allowed"]


def case_name(case: dict[str, Any]) -> str:
    return f"{'write ' if case.get('writing') else ''}{case['path']!a}: {case['why']}"


def test_corpus_is_large_and_says_nothing_twice() -> None:
    asked = [(case["path"], case.get("writing", False)) for case in CASES]
    assert len(asked) >= 60
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_path_is_answered_as_the_corpus_says(case: dict[str, Any]) -> None:
    findings = PathValidator(ROOT).validate_path(case["path"], writing=case.get("writing", False))
    expected = [] if case["expected"] == "allowed" else case["expected"]
    rules = [finding.rule for finding in findings]
    assert rules == ([expected] if isinstance(expected, str) else expected)
    assert all(finding.risk is RiskLevel.FORBIDDEN for finding in findings)


@pytest.mark.parametrize("case", ALLOWED, ids=case_name)
def test_allowed_path_opens_what_the_corpus_says(case: dict[str, Any]) -> None:
    assert PathValidator(ROOT).resolve_path(case["path"]) == case["opens"]


@pytest.mark.parametrize(
    "root", [ROOT, f"{ROOT}/", "/home//ada/project"], ids=["plain", "slash-behind", "two-slashes"]
)
def test_spelling_of_the_root_makes_no_difference(root: str) -> None:
    validator = PathValidator(root)
    assert validator.validate_path(f"{ROOT}/x") == []
    assert validator.resolve_path(f"{ROOT}/x") == "x"
    assert [found.rule for found in validator.validate_path(f"{ROOT}-evil/x")] == ["path.boundary"]


def test_whole_machine_can_be_the_workspace() -> None:
    validator = PathValidator("/")
    assert validator.validate_path("/etc/hosts") == []
    assert validator.resolve_path("/etc/hosts") == "etc/hosts"
    assert [found.rule for found in validator.validate_path("/../x")] == ["path.boundary"]


def test_path_of_greatest_length_is_allowed_and_one_more_is_not() -> None:
    validator = PathValidator(ROOT)
    assert validator.validate_path("a" * MAX_PATH_CHARS) == []
    (finding,) = validator.validate_path("a" * (MAX_PATH_CHARS + 1))
    assert (finding.rule, finding.reason) == (
        "path.spelling",
        "the path is longer than 4096 characters",
    )


def test_very_long_way_out_is_refused() -> None:
    assert PathValidator(ROOT).validate_path("../" * 1_000_000) != []


def test_name_that_is_no_text_is_still_judged() -> None:
    validator = PathValidator(ROOT)
    assert validator.validate_path("caf\udce9.txt") == []
    (finding,) = validator.validate_path("caf\udce9/.env")
    assert finding.rule == "path.dotenv"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "the path is empty"),
        ("a\nb", "'a\\nb' contains control or invisible characters"),
        ("a\\b", "'a\\\\b' contains a backslash; use forward slashes"),
        ("~/x", "'~/x' names a home folder, which lies outside"),
        ("/etc/passwd", "'/etc/passwd' lies outside the workspace"),
        ("../x", "'../x' climbs out of the workspace"),
        ("a/../.env", "'.env' is refused: environment files hold secrets"),
    ],
    ids=["empty", "control", "backslash", "home", "outside", "climbing", "rule"],
)
def test_refusal_says_why_in_words(path: str, reason: str) -> None:
    (finding,) = PathValidator(ROOT).validate_path(path)
    assert finding.reason == reason


def test_reasons_never_carry_control_characters_to_a_terminal() -> None:
    (finding,) = PathValidator(ROOT).validate_path("\x1b[2J\u202e")
    assert finding.reason.isascii()
    assert finding.reason.isprintable()


def test_other_rules_can_be_given() -> None:
    rules = Rules.parse(
        """
        [[path]]
        name = "diary"
        access = "write"
        reason = "diaries are private"
        patterns = ["diary"]
        match = ["diary"]
        not_match = ["diaries"]
        """,
        source="test",
    )
    validator = PathValidator(ROOT, rules)
    assert validator.validate_path(".env") == []
    assert validator.validate_path("diary") == []
    assert [found.rule for found in validator.validate_path("diary", writing=True)] == [
        "path.diary"
    ]


def test_file_of_a_hundred_megabytes_is_not_too_large() -> None:
    validator = PathValidator(ROOT)
    assert validator.check_file_size(100_000_000) == []
    assert [found.rule for found in validator.check_file_size(100_000_001)] == ["size.file"]


_PARTS = st.sampled_from(
    [
        "..",
        ".",
        "",
        "a",
        "workspace",
        "home",
        "ada",
        "project",
        ".env",
        ".git",
        "config",
        "\uff0e\uff0e",
    ]
)
_PATHS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(_PARTS, max_size=12).map("/".join),
    st.lists(_PARTS, max_size=8).map(lambda parts: f"{ROOT}/{'/'.join(parts)}"),
)


@settings(deadline=None, max_examples=500)
@given(path=_PATHS, writing=st.booleans())
def test_no_text_breaks_the_judgement_and_what_it_allows_stays_inside(
    path: str, writing: bool
) -> None:
    validator = PathValidator(ROOT)
    if validator.validate_path(path, writing=writing):
        return
    opened = validator.resolve_path(path)
    assert not opened.startswith("/")
    assert ".." not in opened.split("/")
    assert opened == "." or not {"", "."} & set(opened.split("/"))


@settings(deadline=None)
@given(path=_PATHS)
def test_what_may_be_written_may_be_read(path: str) -> None:
    validator = PathValidator(ROOT)
    if not validator.validate_path(path, writing=True):
        assert validator.validate_path(path) == []


def test_a_surrogate_that_stands_for_no_byte_is_refused() -> None:
    findings = PathValidator("/home/ada/project").validate_path("\ud800")
    assert [finding.rule for finding in findings] == ["path.spelling"]
