"""A judgement follows from the words, the place and what was seen, and is bound to all of them."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.audit import canonical
from handrail.core.digest import digest_call
from handrail.core.errors import BadInput
from handrail.core.grant import CallClass
from handrail.core.ids import ProjectId, SessionId, UserId, WorkspaceId
from handrail.core.project import Autonomy, Place, Project, Session, Workspace
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect
from handrail.core.verdict import Plan, Ruling
from handrail.plane.assessment import Asked, Assessment, Assessor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.tools.catalogue import builtin_registry
from tests.conftest import Household
from tests.contracts.conftest import a_call

ASSESSOR = Assessor(builtin_registry(), Rulebook())
WRITE = {"path": "src/a.py", "content": "x = 1\n"}
AT = datetime(2026, 1, 1, tzinfo=UTC)


def a_place(autonomy: Autonomy = Autonomy.SUPERVISED) -> Place:
    project = Project(ProjectId("prj_1"), UserId("usr_1"), "work", autonomy, "salt", AT)
    workspace = Workspace(WorkspaceId("wsp_1"), project.id, "here", "/w", AT)
    session = Session(SessionId("talk"), project.id, workspace.id, "agt_1", AT)
    return Place(project, workspace, session)


def assess(assessor: Assessor, asked: Asked, place: Place, *rest: Any) -> Assessment:
    return asyncio.run(assessor.assess(asked, place, *rest))


def judge(
    survey: Survey | None = None,
    autonomy: Autonomy = Autonomy.SUPERVISED,
    **params: str,
) -> Assessment:
    words = WRITE | params
    return assess(ASSESSOR, Asked("write_file", words, canonical(words)), a_place(autonomy), survey)


def saw(risk: RiskLevel, reason: str = "seen") -> Survey:
    return Survey({}, (Finding("some.rule", reason, risk),))


# The digest


def test_the_digest_covers_tool_parameters_plan_and_facts() -> None:
    salt, plan = a_place().project.digest_salt, Plan(paths=("src/a.py",))
    facts = {"exists": False}

    words_alone = judge()
    looked_at = judge(Survey(facts))

    assert words_alone.digest == digest_call(salt, "write_file", canonical(WRITE), plan)
    assert looked_at.digest == digest_call(salt, "write_file", canonical(WRITE), plan, facts)


def test_other_facts_make_another_digest() -> None:
    surveys = [None, Survey(), Survey({"exists": False}), Survey({"exists": True, "sha256": "a"})]

    assert len({judge(survey).digest for survey in surveys}) == len(surveys)


def test_findings_and_evidence_are_words_about_the_facts_and_not_facts() -> None:
    seen = Survey({"exists": True}, saw(RiskLevel.HIGH).findings, "+x")

    assert judge(seen).digest == judge(Survey({"exists": True})).digest


# Risk


@pytest.mark.parametrize("seen", list(RiskLevel))
@pytest.mark.parametrize("path", ["src/a.py", "src/run.sh"], ids=["medium", "high"])
def test_what_was_seen_raises_the_risk_and_never_lowers_it(path: str, seen: RiskLevel) -> None:
    by_its_words = judge(path=path).verdict

    looked_at = judge(saw(seen), path=path).verdict

    assert looked_at.risk == max(by_its_words.risk, seen)
    assert looked_at.ruling >= by_its_words.ruling


@given(st.lists(st.sampled_from(RiskLevel), max_size=4), st.sampled_from(Autonomy))
def test_no_survey_makes_a_verdict_milder(seen: list[RiskLevel], autonomy: Autonomy) -> None:
    survey = Survey({}, tuple(Finding("rule", "reason", risk) for risk in seen))

    before, after = judge(None, autonomy).verdict, judge(survey, autonomy).verdict

    assert after.risk >= before.risk
    assert after.ruling >= before.ruling


@pytest.mark.parametrize(
    ("autonomy", "path", "ruling"),
    [
        (Autonomy.READ_ONLY, "src/a.py", Ruling.DENY),
        (Autonomy.READ_ONLY, "src/run.sh", Ruling.DENY),
        (Autonomy.SUPERVISED, "src/a.py", Ruling.ASK),
        (Autonomy.SUPERVISED, "src/run.sh", Ruling.ASK),
        (Autonomy.FULL, "src/a.py", Ruling.ALLOW),
        (Autonomy.FULL, "src/run.sh", Ruling.ASK),
        (Autonomy.FULL, "x.exe", Ruling.DENY),
    ],
)
def test_the_freedom_of_the_project_decides_who_is_asked(
    autonomy: Autonomy, path: str, ruling: Ruling
) -> None:
    assert judge(None, autonomy, path=path).verdict.ruling is ruling


# What a person would be shown


def test_whoever_is_asked_is_told_what_would_happen_and_of_which_class_it_is() -> None:
    asked = judge()

    assert asked.description == "Write 1 line to src/a.py"
    assert asked.call_class == CallClass("write_file:src/**/*.py", "writes to src/**/*.py")


def test_where_nobody_is_asked_there_is_nothing_to_show() -> None:
    passed = judge(None, Autonomy.FULL)

    assert (passed.description, passed.call_class) == ("", None)


def test_a_secret_is_masked_in_what_is_shown(household: Household) -> None:
    key = "sk-abcdefghijklmnop1234"
    asked = judge(saw(RiskLevel.HIGH, f"key is {key}"), path=f"{key}/a.py")
    record = asked.judge(a_call(household))

    assert asked.description == "Write 1 line to [masked]/a.py"
    assert record.reasons == ("key is [masked]",)


def test_a_secret_is_masked_in_the_class_too() -> None:
    key = "sk-abcdefghijklmnop1234"

    asked = judge(path=f"{key}/a.py")

    assert key not in str(asked.call_class)


@pytest.mark.parametrize("survey", [None, Survey()], ids=["unseen", "seen"])
def test_a_judgement_is_written_into_the_call(household: Household, survey: Survey | None) -> None:
    call = a_call(household)
    asked = judge(survey)

    assert asked.judge(call) == call._replace(
        tool_name="write_file",
        digest=asked.digest,
        effect=Effect.CHANGE,
        risk_level=RiskLevel.MEDIUM,
        reasons=("changes a file in the workspace",),
        requires_approval=True,
        surveyed=survey is not None,
        class_key="write_file:src/**/*.py",
    )


@pytest.mark.parametrize(
    ("tool_name", "params", "words"),
    [
        ("launch_rocket", {}, "no tool is named 'launch_rocket'"),
        ("write_file", {"path": "a"}, "content: "),
        ("write_file", WRITE | {"colour": "red"}, "colour: "),
    ],
)
def test_what_no_tool_can_read_is_bad_input(
    tool_name: str, params: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        assess(ASSESSOR, Asked(tool_name, params, canonical(params)), a_place())


# What is remembered


FORBIDDEN_HERE = """
[[path]]
name = "sources"
access = "any"
reason = "not for agents"
patterns = ["src"]
match = ["src/a.py"]
not_match = ["lib/a.py"]
"""


def read_of(path: str = "src/a.py", **asked: Any) -> Asked:
    words = {"path": path}
    return Asked("read_file", words, canonical(words), **asked)


def test_the_same_words_in_the_same_place_are_judged_once() -> None:
    place = a_place()

    assert assess(ASSESSOR, read_of(), place) is assess(ASSESSOR, read_of(), place)
    assert assess(ASSESSOR, read_of("lib/a.py"), place) is not assess(ASSESSOR, read_of(), place)


def test_a_place_that_was_read_again_and_is_the_same_is_not_judged_again() -> None:
    place = a_place()

    assert assess(ASSESSOR, read_of(), replace(place)) is assess(ASSESSOR, read_of(), place)


def test_a_place_that_has_changed_is_judged_anew() -> None:
    assert judge(autonomy=Autonomy.FULL).verdict.ruling is Ruling.ALLOW
    assert judge(autonomy=Autonomy.SUPERVISED).verdict.ruling is Ruling.ASK
    assert judge(autonomy=Autonomy.READ_ONLY).verdict.ruling is Ruling.DENY


def test_rules_that_were_exchanged_hold_from_the_next_call_on() -> None:
    book, place = Rulebook(), a_place()
    assessor = Assessor(builtin_registry(), book)
    before = assess(assessor, read_of(), place)

    book.exchange(operator_rules(FORBIDDEN_HERE, "policy.toml"))
    after = assess(assessor, read_of(), place)

    assert (before.verdict.ruling, after.verdict.ruling) == (Ruling.ALLOW, Ruling.DENY)


def test_what_was_seen_or_came_from_elsewhere_is_never_taken_from_memory() -> None:
    place = a_place()
    remembered = assess(ASSESSOR, read_of(), place)

    seen = assess(ASSESSOR, read_of(), place, saw(RiskLevel.HIGH))
    chained = assess(ASSESSOR, read_of(origins={"path": "call-1"}), place)

    assert seen.verdict.risk is RiskLevel.HIGH
    assert [finding.rule for finding in chained.verdict.findings] == ["chain.value"]
    assert assess(ASSESSOR, read_of(), place) is remembered


def test_long_words_are_not_kept() -> None:
    place = a_place()
    words = WRITE | {"content": "x" * 3_000}
    asked = Asked("write_file", words, canonical(words))

    assert assess(ASSESSOR, asked, place) is not assess(ASSESSOR, asked, place)


def test_words_with_a_secret_in_them_do_not_outlive_their_call() -> None:
    assessor, place = Assessor(builtin_registry(), Rulebook()), a_place()

    assess(assessor, read_of("token=open-sesame"), place)

    assert len(assessor._known) == 0
