"""A grant covers exactly what it names, and only while it lives."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.grant import (
    LASTING_CHOICES,
    LASTING_SECONDS,
    LASTING_WORDS,
    CallClass,
    Grant,
    Scope,
)
from handrail.core.ids import ApprovalId, GrantId, ProjectId, SessionId, UserId
from handrail.core.risk import RiskLevel
from handrail.core.sight import HOSTS, WORKSPACE_PROGRAMS
from handrail.core.tool import JsonObject

GIVEN = datetime(2026, 1, 1, tzinfo=UTC)
SOURCES = CallClass("write_file:src/**/*.py", "writes to src/**/*.py")


def grant(**fields: Any) -> Grant:
    given = Grant(
        id=GrantId("grt_1"),
        project_id=ProjectId("prj_1"),
        session_id=SessionId("talk"),
        class_key=SOURCES.key,
        words=SOURCES.words,
        max_risk=RiskLevel.MEDIUM,
        uses_left=None,
        expires_at=None,
        approval_id=ApprovalId("apr_1"),
        granted_by=UserId("usr_1"),
        created_at=GIVEN,
    )
    return replace(given, **fields)


WHOLE_SESSION: dict[str, Any] = {"class_key": None, "max_risk": RiskLevel.HIGH}


@pytest.mark.parametrize(("class_key", "scope"), [("k", Scope.CLASS), (None, Scope.SESSION)])
def test_a_grant_without_a_class_is_for_the_session(class_key: str | None, scope: Scope) -> None:
    assert grant(class_key=class_key).scope is scope


@pytest.mark.parametrize(
    ("kind", "covered"),
    [
        (SOURCES, True),
        (CallClass(SOURCES.key, "in other words"), True),
        (CallClass("write_file:src/**/*.pyi", SOURCES.words), False),
        (CallClass("write_file:src/**/*.p", SOURCES.words), False),
        (CallClass("write_file:SRC/**/*.py", SOURCES.words), False),
        (CallClass("write_file:src/a.py", SOURCES.words), False),
        (CallClass("", SOURCES.words), False),
        (None, False),
    ],
)
def test_a_class_is_compared_by_its_key_and_not_by_likeness(
    kind: CallClass | None, covered: bool
) -> None:
    assert grant().covers(kind, RiskLevel.MEDIUM, GIVEN) is covered


@pytest.mark.parametrize("kind", [SOURCES, CallClass("other", "other"), None])
def test_a_grant_for_the_session_asks_for_no_class(kind: CallClass | None) -> None:
    assert grant(**WHOLE_SESSION).covers(kind, RiskLevel.HIGH, GIVEN)


@pytest.mark.parametrize(
    ("most", "covered"),
    [
        (RiskLevel.LOW, {RiskLevel.LOW}),
        (RiskLevel.MEDIUM, {RiskLevel.LOW, RiskLevel.MEDIUM}),
        (RiskLevel.HIGH, {RiskLevel.LOW, RiskLevel.MEDIUM, RiskLevel.HIGH}),
        # Should one ever come to be, it reaches no further than HIGH.
        (RiskLevel.CRITICAL, {RiskLevel.LOW, RiskLevel.MEDIUM, RiskLevel.HIGH}),
        (RiskLevel.FORBIDDEN, {RiskLevel.LOW, RiskLevel.MEDIUM, RiskLevel.HIGH}),
    ],
)
@pytest.mark.parametrize("class_key", [SOURCES.key, None], ids=["class", "session"])
def test_no_grant_covers_more_risk_than_was_seen_and_none_covers_critical(
    most: RiskLevel, covered: set[RiskLevel], class_key: str | None
) -> None:
    given = grant(class_key=class_key, max_risk=most)

    assert {risk for risk in RiskLevel if given.covers(SOURCES, risk, GIVEN)} == covered


@pytest.mark.parametrize(
    ("fields", "after_seconds", "alive"),
    [
        pytest.param({}, 10**9, True, id="without-limits"),
        pytest.param({"uses_left": 1}, 0, True, id="one-use-left"),
        pytest.param({"uses_left": 0}, 0, False, id="used-up"),
        pytest.param({"uses_left": -1}, 0, False, id="overdrawn"),
        pytest.param({"expires_at": GIVEN + timedelta(seconds=60)}, 59.999, True, id="in-time"),
        pytest.param({"expires_at": GIVEN + timedelta(seconds=60)}, 60, False, id="on-the-dot"),
        pytest.param({"expires_at": GIVEN + timedelta(seconds=60)}, 61, False, id="too-late"),
        pytest.param({"revoked_at": GIVEN}, 0, False, id="revoked"),
        pytest.param({"revoked_at": GIVEN, "uses_left": 5}, 0, False, id="revoked-with-uses"),
    ],
)
def test_a_grant_lives_until_it_is_used_up_expired_or_revoked(
    fields: dict[str, Any], after_seconds: float, alive: bool
) -> None:
    now = GIVEN + timedelta(seconds=after_seconds)

    assert grant(**fields).is_live(now) is alive
    assert grant(**fields).covers(SOURCES, RiskLevel.MEDIUM, now) is alive


@pytest.mark.parametrize(
    ("fields", "session", "agent", "holds"),
    [
        pytest.param({}, "talk", "agt_1", True, id="its-session"),
        pytest.param({}, "other", "agt_1", False, id="another-session"),
        pytest.param({"agent_id": "agt_1"}, "talk", "agt_1", True, id="lasting-in-its-session"),
        pytest.param({"agent_id": "agt_1"}, "other", "agt_1", True, id="lasting-elsewhere"),
        pytest.param({"agent_id": "agt_1"}, "talk", "agt_2", False, id="another-agent"),
    ],
)
def test_a_grant_holds_in_its_session_and_a_lasting_one_for_its_agent(
    fields: dict[str, Any], session: str, agent: str, holds: bool
) -> None:
    assert grant(**fields).is_for(SessionId(session), agent) is holds


def test_a_grant_for_an_agent_is_one_for_the_project() -> None:
    assert grant(agent_id="agt_1").scope is Scope.PROJECT


def test_the_proposed_end_is_one_of_the_choices() -> None:
    assert (LASTING_SECONDS, LASTING_WORDS) in LASTING_CHOICES


def test_revoking_changes_nothing_but_the_moment_of_it() -> None:
    at = GIVEN + timedelta(seconds=5)

    assert grant().revoke(at) == grant(revoked_at=at)
    assert not grant().revoke(at).covers(SOURCES, RiskLevel.LOW, at)


_KEYS = st.sampled_from(["a", "b", None])


@given(
    _KEYS,
    st.sampled_from(RiskLevel),
    st.none() | st.integers(-1, 2),
    st.none() | st.integers(0, 3),
    st.booleans(),
    _KEYS,
    st.sampled_from(RiskLevel),
    st.integers(0, 3),
)
def test_what_a_grant_covers_is_always_live_of_its_class_and_below_critical(
    class_key: str | None,
    most: RiskLevel,
    uses: int | None,
    lasts: int | None,
    revoked: bool,
    asked_key: str | None,
    risk: RiskLevel,
    after: int,
) -> None:
    given_ahead = grant(
        class_key=class_key,
        max_risk=most,
        uses_left=uses,
        expires_at=None if lasts is None else GIVEN + timedelta(seconds=lasts),
        revoked_at=GIVEN if revoked else None,
    )
    kind = None if asked_key is None else CallClass(asked_key, "words")

    if given_ahead.covers(kind, risk, GIVEN + timedelta(seconds=after)):
        assert class_key in (None, asked_key)
        assert risk <= most
        assert risk < RiskLevel.CRITICAL
        assert uses is None or uses > 0
        assert lasts is None or after < lasts
        assert not revoked


BOUND = CallClass("exactly:write:1", "exactly `./x`", ("the file x", "what runs x"))
SEEN = {"the file x": "sha256:1", "what runs x": "sha256:2", "the environment": {}}


def test_a_class_is_another_one_where_a_file_it_is_bound_to_is_another() -> None:
    others = [
        {"the file x": "sha256:3"},
        {"what runs x": "sha256:3"},
        {"the file x": "absent:ENOENT"},
    ]
    kinds = [BOUND.bind(SEEN | other) for other in ({}, *others)]
    assert None not in kinds
    assert len({kind.key for kind in kinds if kind is not None}) == 4
    assert BOUND.bind(SEEN | {"the environment": {"PATH": "/"}}) == kinds[0]


@pytest.mark.parametrize(
    "facts",
    [
        None,
        {},
        {"the file x": "sha256:1"},
        SEEN | {"the file x": "large:1"},
        SEEN | {"what runs x": {"sha256": "1"}},
    ],
)
def test_a_class_bound_to_what_nobody_has_read_is_none(facts: JsonObject | None) -> None:
    assert BOUND.bind(facts) is None


def test_a_program_of_the_workspace_with_a_network_has_no_class() -> None:
    kind = CallClass("run:pip install", "pip install …")
    own: JsonObject = {WORKSPACE_PROGRAMS: f"sha256:{'1' * 64}"}

    assert kind.bind(own) is not None
    assert kind.bind({**own, HOSTS: ["pypi.org:443"]}) is None
    assert kind.bind({HOSTS: ["pypi.org:443"]}) == kind


def test_a_class_bound_to_nothing_stays_what_it_is() -> None:
    kind = CallClass("command:write:git add", "git add …")
    assert kind.bind(None) == kind.bind(SEEN) == kind


def test_a_grant_given_for_one_box_covers_nothing_in_another() -> None:
    given_for = grant(class_key="command:write:npm install")
    now = given_for.created_at
    for box, covered in (("write", True), ("net", False), ("read", False)):
        kind = CallClass(f"command:{box}:npm install", "npm install …")
        assert given_for.covers(kind, RiskLevel.MEDIUM, now) is covered


def test_a_grant_for_the_session_leaves_the_network_to_a_person() -> None:
    given = grant(**WHOLE_SESSION)
    assert given.covers(SOURCES, RiskLevel.MEDIUM, GIVEN, beyond_session=False)
    assert not given.covers(SOURCES, RiskLevel.MEDIUM, GIVEN, beyond_session=True)
    assert grant().covers(SOURCES, RiskLevel.MEDIUM, GIVEN, beyond_session=True)
