"""Which commands act as the person, which of them only read, and what one answer covers."""

import tomllib
from pathlib import Path

import pytest

from handrail.core.grant import CallClass
from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.scripts import ScriptValidator

CORPUS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parents[1] / "corpus" / "accounts.toml").read_text(encoding="utf-8")
)
LINES = ScriptValidator("/home/ada/project")


def risk_of(line: str) -> RiskLevel:
    return worst(LINES.validate_script(line))


def class_of(line: str) -> CallClass | None:
    return LINES.class_of(line)


def accounts_of(line: str) -> set[str]:
    return {stage.account for stage in LINES.stages_of(line)} - {""}


def name_in(line: str) -> str:
    return "glab" if "glab" in line else "gh"


def test_the_corpus_is_no_trifle() -> None:
    assert sum(map(len, CORPUS.values())) >= 120


@pytest.mark.parametrize("line", CORPUS["reads"])
def test_what_reads_is_asked_about_at_medium_and_is_one_class(line: str) -> None:
    name = name_in(line)
    words = f"{name} commands that only read"

    assert risk_of(line) is RiskLevel.MEDIUM
    assert class_of(line) == CallClass(f"command:net:={words}", words)
    assert accounts_of(line) == {name}
    assert not LINES.rehearses(line)


@pytest.mark.parametrize("line", CORPUS["asks"])
def test_what_writes_asks_each_time(line: str) -> None:
    assert risk_of(line) is RiskLevel.HIGH
    assert class_of(line) is None
    assert accounts_of(line) == {name_in(line)}


@pytest.mark.parametrize("line", CORPUS["unsigned"])
def test_every_other_way_to_call_it_gets_no_credential_and_is_not_of_the_class(line: str) -> None:
    assert accounts_of(line) == set()
    assert class_of(line) is None
    assert risk_of(line) >= RiskLevel.MEDIUM


@pytest.mark.parametrize("line", CORPUS["refused"])
def test_no_expression_reads_the_variable_with_the_credential(line: str) -> None:
    assert risk_of(line) is RiskLevel.FORBIDDEN


def test_reads_of_two_accounts_on_one_line_have_no_class() -> None:
    assert class_of("gh pr list && glab mr list") is None


def test_a_read_and_a_write_on_one_line_ask_as_the_write() -> None:
    assert risk_of("gh pr list && gh pr merge 5") is RiskLevel.HIGH
    assert class_of("gh pr list && gh pr merge 5") is None


def test_a_read_beside_an_install_has_no_class() -> None:
    assert class_of("gh pr list && npm install x") is None
