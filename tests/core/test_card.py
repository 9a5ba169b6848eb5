"""A card shows what was asked, what is known, and each way to say yes."""

import pytest

from handrail.core.approval import ApprovalStatus
from handrail.core.card import (
    LOOKING,
    NO_HOSTS_SEEN,
    NOT_SURVEYED,
    WHOLE_SESSION,
    Card,
    Choice,
    Offer,
)
from handrail.core.grant import PastCalls, Scope
from handrail.core.risk import RiskLevel
from tests.core.test_approval import DEADLINE, YES, question

ONCE = Offer(Scope.ONCE, "this call, once")
SOURCES = Offer(Scope.CLASS, "writes to src/**/*.py, for the rest of this session")
ALWAYS = Offer(
    Scope.PROJECT, "writes to src/**/*.py, always in this project, in every session of this agent"
)
SESSION = Offer(Scope.SESSION, "every call in this session, except network access", WHOLE_SESSION)


def test_a_card_says_all_that_the_question_holds() -> None:
    assert Card.of(question()) == Card(
        approval_id="apr_1",
        tool_id="exe_1",
        tool_name="write_file",
        tool_params={"path": "src/a.py"},
        description="Write 1 line to src/a.py",
        risk_level="MEDIUM",
        reasons=("changes a file in the workspace",),
        reasoning="to mend it",
        notes=(),
        evidence="+x = 1",
        offers=(ONCE, SOURCES, ALWAYS, SESSION),
        needs_second_step=False,
        agent_id="agt_1",
        session_id="talk",
        timeout_seconds=300,
        expires_at=DEADLINE,
        digest="judged",
        status="pending",
    )


def test_a_card_without_a_look_at_the_machine_says_so() -> None:
    assert Card.of(question(surveyed=False)).notes == (NOT_SURVEYED,)
    assert "no machine is connected" in NOT_SURVEYED
    (note,) = Card.of(question(surveyed=False, looking="laptop\x1b[2J")).notes
    assert note == LOOKING.format(machine="laptop\\x1b[2J")
    assert note.startswith("Still checking on laptop")


def test_where_its_words_came_from_is_said_first() -> None:
    unseen = question(surveyed=False, origins=("`x` came from a page",))
    assert Card.of(unseen).notes == ("`x` came from a page", NOT_SURVEYED)


def test_without_a_look_it_says_that_no_host_may_be_reached() -> None:
    unseen = question(surveyed=False, reaches_out=True)
    assert Card.of(unseen).notes == (NOT_SURVEYED, NO_HOSTS_SEEN)
    assert Card.of(question(reaches_out=True)).notes == ()


def test_what_the_server_does_says_whom_it_reaches_and_nothing_of_machines() -> None:
    words = {"surveyed": False, "reaches_out": True, "by_server": True}
    notes = Card.of(question(**words, hosts=("collect.example",))).notes

    assert notes == (
        "The server itself does this as soon as you approve, and reaches collect.example.",
    )
    assert Card.of(question(surveyed=False, by_server=True)).notes == ()
    assert [offer.scope for offer in Card.of(question(**words)).offers] == [Scope.ONCE]


@pytest.mark.parametrize(
    ("usual_ms", "notes"),
    [(None, ()), (1_999, ()), (12_300, ("Calls like this have taken about 12 s.",))],
)
def test_a_card_says_how_long_calls_like_it_take_if_that_is_long(
    usual_ms: int | None, notes: tuple[str, ...]
) -> None:
    assert Card.of(question(estimated_duration_ms=usual_ms)).notes == notes


@pytest.mark.parametrize(
    ("risk", "second_step"),
    [(RiskLevel.MEDIUM, False), (RiskLevel.HIGH, True), (RiskLevel.CRITICAL, True)],
)
def test_what_is_high_or_worse_takes_a_second_step(risk: RiskLevel, second_step: bool) -> None:
    assert Card.of(question(risk_level=risk)).needs_second_step is second_step


def test_what_is_critical_is_offered_for_once_alone() -> None:
    assert Card.of(question(risk_level=RiskLevel.CRITICAL)).offers == (ONCE,)


def test_without_a_class_none_is_offered_and_the_session_comes_with_a_warning() -> None:
    assert Card.of(question(call_class=None)).offers == (ONCE, SESSION)
    assert "run without asking" in WHOLE_SESSION


def test_an_answered_question_is_shown_as_what_it_is() -> None:
    answered = question().resolve(ApprovalStatus.APPROVED, YES)

    assert Card.of(answered).status == "approved"


def test_a_choice_is_for_once_unless_it_says_more() -> None:
    assert Choice(approved=True) == Choice(True, Scope.ONCE, None)


@pytest.mark.parametrize(
    ("past", "told"),
    [
        (None, None),
        (PastCalls(0, 0), "first call of this kind by this agent in this project"),
        (PastCalls(1, 0), "it would have covered 1 earlier call of this agent in this project"),
        (
            PastCalls(1_200, 3),
            "it would have covered 1,200 earlier calls of this agent in this project, 3 of which"
            " you refused",
        ),
    ],
)
def test_the_offer_of_a_class_says_what_it_would_have_covered(
    past: PastCalls | None, told: str | None
) -> None:
    once, kind, always, session = Card.of(question(past=past)).offers
    assert [(one.words, one.past) for one in (kind, always)] == [
        (SOURCES.words, told),
        (ALWAYS.words, told),
    ]
    calls = None if past is None else past.calls
    assert kind.past_calls == always.past_calls == calls
    assert (once, session) == (ONCE, SESSION)
