import json
import operator
import pickle
from collections.abc import Callable
from itertools import permutations, product

import pytest

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Join, Stage
from handrail.core.verdict import Plan, Ruling, Verdict

# Neither the alphabet's order nor its reverse.
FROM_MILD_TO_STRICT = ["allow", "draft", "rehearse", "ask", "deny"]


def test_a_ruling_is_its_word() -> None:
    assert [ruling.value for ruling in Ruling] == FROM_MILD_TO_STRICT
    assert [str(ruling) for ruling in Ruling] == FROM_MILD_TO_STRICT
    assert [f"{ruling}" for ruling in Ruling] == FROM_MILD_TO_STRICT
    assert list(Ruling) == FROM_MILD_TO_STRICT
    assert json.loads(json.dumps(list(Ruling))) == FROM_MILD_TO_STRICT
    assert all(pickle.loads(pickle.dumps(ruling)) is ruling for ruling in Ruling)


def test_rulings_are_sorted_from_mild_to_strict() -> None:
    for several in permutations(Ruling):
        assert sorted(several) == FROM_MILD_TO_STRICT


def test_the_maximum_of_several_rulings_is_the_strictest() -> None:
    for several in permutations(Ruling):
        assert (max(several), min(several)) == (Ruling.DENY, Ruling.ALLOW)
    assert max(Ruling.ASK, Ruling.REHEARSE) is Ruling.ASK
    assert max(Ruling.ALLOW, Ruling.REHEARSE) is Ruling.REHEARSE


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_every_comparison_goes_by_strictness_also_with_the_word(
    compare: Callable[[object, object], bool],
) -> None:
    for (here, left), (there, right) in product(enumerate(Ruling), repeat=2):
        expected = compare(here, there)
        assert compare(left, right) is expected
        assert compare(left, right.value) is expected
        assert compare(left.value, right) is expected


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
@pytest.mark.parametrize("other", ["zebra", "ALLOW", "", 2, None])
def test_a_ruling_has_no_order_with_anything_else(
    compare: Callable[[object, object], bool], other: object
) -> None:
    with pytest.raises(ValueError, match="is not a valid Ruling"):
        compare(Ruling.ASK, other)
    with pytest.raises(ValueError, match="is not a valid Ruling"):
        compare(other, Ruling.ASK)


def test_a_person_may_be_asked_after_a_rehearsal_and_not_after_a_refusal() -> None:
    assert [ruling for ruling in Ruling if ruling.may_ask] == [Ruling.REHEARSE, Ruling.ASK]


def test_every_ruling_has_words_for_people() -> None:
    assert [ruling.meaning for ruling in Ruling] == [
        "runs at once",
        "changes the session's draft only",
        "tried first where it can change nothing",
        "asks a person",
        "refused",
    ]


def test_plan_of_stages_says_what_each_runs_and_reads() -> None:
    first = Stage(("cat",), Profile.READ, stdin="a\n")
    second = Stage(("tee", "x"), Profile.WRITE, Join.PIPE)

    assert Plan.of([first, second]) == Plan(
        argv=(("cat",), ("tee", "x")),
        profiles=(Profile.READ, Profile.WRITE),
        stdin=("a\n", None),
    )
    assert Plan.of([second]).stdin == ()


def test_verdict_gives_every_reason_in_order() -> None:
    findings = (
        Finding("a", "it is big", RiskLevel.MEDIUM),
        Finding("b", "it is red", RiskLevel.HIGH),
    )
    verdict = Verdict(Ruling.ASK, RiskLevel.HIGH, findings)
    assert verdict.reasons == ("it is big", "it is red")


def test_verdict_plans_nothing_unless_told() -> None:
    verdict = Verdict(Ruling.ALLOW, RiskLevel.LOW)
    assert (verdict.plan, verdict.reasons, verdict.timeout_seconds) == (Plan((), (), ()), (), 0)
