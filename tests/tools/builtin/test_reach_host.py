import pytest

from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Plan, Ruling
from handrail.policy.security import Scene
from handrail.testing import FakeHands
from handrail.tools.builtin.reach_host import ReachHost, ReachHostParams
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call

SCENE = Scene("/home/ada/project")
TOOL = ReachHost()


def wanted(host: str = "github.com:443", program: str = "Claude Code") -> ReachHostParams:
    return ReachHostParams(program=program, host=host)


def test_a_person_is_asked_about_a_public_host() -> None:
    verdict = judge_call(TOOL, wanted(), SCENE)
    assert (verdict.ruling, verdict.risk) == (Ruling.ASK, RiskLevel.MEDIUM)
    assert verdict.plan == Plan(hosts=("github.com:443",))
    assert TOOL.preview(wanted()) == "Let Claude Code connect to github.com:443"


def test_a_draft_holds_no_connection_so_the_person_is_asked_there_too() -> None:
    scene = Scene("/home/ada/project", Autonomy.DRAFT)
    assert judge_call(TOOL, wanted(), scene).ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("github.com", "must name one host and its port"),
        ("127.0.0.1:80", "private network"),
        ("localhost:443", "private network"),
        ("metadata.google.internal:80", "private network"),
        ("example.com:22", "port other than 80 and 443"),
        ("exa mple.com:443", "not a host name"),
    ],
)
def test_no_one_is_asked_about_other_hosts(host: str, why: str) -> None:
    verdict = judge_call(TOOL, wanted(host), SCENE)
    assert verdict.ruling is Ruling.DENY
    assert why in verdict.reasons[0]


def test_a_grant_covers_one_program_and_one_host() -> None:
    kinds = [
        TOOL.call_class(params, SCENE)
        for params in (wanted(), wanted("example.com:443"), wanted(program="bash"))
    ]
    assert len({kind.key for kind in kinds if kind is not None}) == 3
    assert kinds[0] is not None
    assert kinds[0].words == "connections of Claude Code to github.com:443"


async def test_the_call_itself_changes_nothing() -> None:
    hands = FakeHands({"a.txt": b"a"})
    found = await TOOL.survey(wanted(), SCENE, hands)
    result = await TOOL.execute(wanted(), SCENE, hands, found.facts)
    assert result.fields == {"host": "github.com:443"}
    assert hands.files.files == {"a.txt": b"a"}


def test_agents_are_not_told_of_it() -> None:
    assert TOOL not in builtin_registry().offered
    assert "reach_host" in [tool.name for tool in builtin_registry()]
