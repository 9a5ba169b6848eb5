import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.errors import RuleError
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.writes import WriteRule, judge_write

CORPUS = Path(__file__).parent.parent / "corpus" / "writes.toml"
CASES: list[dict[str, Any]] = tomllib.loads(CORPUS.read_text(encoding="utf-8"))["case"]

GOOD = {
    "name": '"song"',
    "risk": '"high"',
    "reason": '"songs are sung"',
    "patterns": '["*.song", "album/**/*"]',
    "except": '["old.song"]',
    "match": '["a.song", "x/album/one/two"]',
    "not_match": '["a.song/b", "old.song"]',
}


def rule_text(**changes: str | None) -> str:
    rows = {**GOOD, **changes}
    lines = [f"{key} = {value}" for key, value in rows.items() if value is not None]
    return "\n".join(["[[write]]", *lines])


def song(**changes: str | None) -> WriteRule:
    (rule,) = Rules.parse(rule_text(**changes), source="mine.toml").writes
    return rule


def risk_of(path: str) -> RiskLevel:
    """As the tool says it, which begins at MEDIUM."""
    return max(RiskLevel.MEDIUM, worst(judge_write(path, default_rules().writes)))


def test_corpus_is_large_and_says_nothing_twice() -> None:
    paths = [case["path"] for case in CASES]
    assert len(paths) >= 60
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["path"]))
def test_write_is_judged_as_the_corpus_says(case: dict[str, Any]) -> None:
    assert risk_of(case["path"]).name.lower() == case["risk"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["path"]))
def test_every_concern_is_told_in_words(case: dict[str, Any]) -> None:
    for finding in judge_write(case["path"], default_rules().writes):
        assert finding.rule.startswith("write.")
        assert finding.reason.startswith(f"{case['path']!r}")
        assert finding.risk > RiskLevel.MEDIUM


def test_every_shipped_rule_has_a_name_of_its_own_and_a_reason() -> None:
    rules = default_rules().writes
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.reason for rule in rules)


def test_unknown_kind_is_high_and_said_to_be_unknown() -> None:
    (finding,) = judge_write("a.xyz", default_rules().writes)
    assert (finding.rule, finding.risk) == ("write.unknown-kind", RiskLevel.HIGH)
    assert finding.reason == "'a.xyz' has an unknown file type: other programs may run or read it"


@pytest.mark.parametrize("path", ["notes", "docs/a.xyz", "a/profile.d", "rebuild.plan"])
def test_text_of_an_unknown_kind_is_like_other_text(path: str) -> None:
    assert judge_write(path, default_rules().writes, is_text=True) == []


@pytest.mark.parametrize(
    "path", [".toolrc", ".tool/notes", "Toolfile", "toolrc", "bin/tool", "a/hooks/pre", "PKGBUILD"]
)
def test_a_name_that_programs_look_for_is_high_though_it_is_text(path: str) -> None:
    assert worst(judge_write(path, default_rules().writes, is_text=True)) is RiskLevel.HIGH


def test_text_of_a_known_kind_is_judged_by_that() -> None:
    rules = default_rules().writes
    assert judge_write("a.sh", rules, is_text=True) == judge_write("a.sh", rules)


def test_without_rules_every_kind_is_unknown() -> None:
    assert worst(judge_write("README.md", ())) is RiskLevel.HIGH


def test_refusal_that_is_lifted_leaves_an_unknown_kind() -> None:
    rules = [rule for rule in default_rules().writes if rule.name != "binary"]
    assert worst(judge_write("a.exe", rules)) is RiskLevel.HIGH


def test_strictest_rule_wins_and_every_reason_is_told() -> None:
    rules = [song(), song(name='"hit"', risk='"forbidden"', reason='"hits are sold"')]
    assert judge_write("a.song", rules) == [
        Finding("write.song", "'a.song': songs are sung", RiskLevel.HIGH),
        Finding("write.hit", "'a.song': hits are sold", RiskLevel.FORBIDDEN),
    ]


def test_medium_rule_makes_a_kind_known_and_lowers_nothing() -> None:
    known = song(risk='"medium"')
    assert judge_write("a.song", [known]) == []
    assert worst(judge_write("a.song", [known, song()])) is RiskLevel.HIGH


@pytest.mark.parametrize("risk", ["medium", "high", "critical", "forbidden"])
def test_rule_says_how_much_a_write_matters(risk: str) -> None:
    assert song(risk=f'"{risk}"').risk.name.lower() == risk


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("a.song", True),
        ("x/y/a.SONG", True),
        (".song", True),
        ("a.song.", True),
        ("a.song/b", False),
        ("old.song", False),
        ("x/old.song", False),
        ("very-old.song", True),
        ("album/a", True),
        ("x/album/a/b/c", True),
        ("album", False),
        ("my-album/a", False),
    ],
)
def test_kind_is_told_by_the_end_of_a_path(path: str, covered: bool) -> None:
    assert song().covers(path) is covered


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"colour": '"red"'},
            "unknown key 'colour'; known: name, risk, built, reason, patterns, except, match, "
            "not_match",
        ),
        ({"reason": None}, "'reason' is missing"),
        ({"patterns": None}, "'patterns' is missing"),
        ({"risk": None}, "'risk' is missing"),
        ({"risk": '"low"'}, "risk is one of medium, high, critical, forbidden, not 'low'"),
        ({"risk": '"HIGH"'}, "risk is one of medium, high, critical, forbidden, not 'HIGH'"),
        ({"match": None}, "needs examples, `match` and `not_match`"),
        ({"not_match": "[]"}, "needs examples, `match` and `not_match`"),
        ({"match": '["b.sing"]'}, "does not match its own example 'b.sing'"),
        ({"not_match": '["b.song"]'}, "matches 'b.song', which it says it does not"),
    ],
)
def test_broken_rule_is_refused_with_its_place(
    changes: dict[str, str | None], message: str
) -> None:
    with pytest.raises(RuleError) as caught:
        song(**changes)
    assert caught.value.message == f"mine.toml: write rule 'song': {message}"


def test_rules_of_two_files_are_held_together() -> None:
    both = Rules(writes=(song(),)) + Rules(writes=(song(name='"other"'),))
    assert [rule.name for rule in both.writes] == ["song", "other"]


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_no_name_breaks_the_judgement_or_comes_out_below_medium(path: str) -> None:
    assert risk_of(path) >= RiskLevel.MEDIUM
