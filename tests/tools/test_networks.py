"""What of the network is on the card, and that the same is what runs."""

import pytest

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel
from handrail.core.stage import Join, Stage
from handrail.policy.security import Scene
from handrail.testing import FakeHands
from handrail.tools.networks import survey_hosts, with_hosts

BOXED = Scene("/home/ada/project", isolated=True)
INSTALL = Stage(("npm", "install"), Profile.NET, networks=("npm",))
TEST = Stage(("npm", "test"), Profile.WRITE, Join.AND)


def hands(*hosts: str) -> FakeHands:
    return FakeHands(hosts=hosts)


async def test_the_hosts_are_named_and_bound() -> None:
    survey = await survey_hosts((INSTALL, TEST), BOXED, hands("a.example.com:443", "b.example"))

    [finding] = survey.findings
    assert survey.facts == {"hosts": ["a.example.com:443", "b.example"]}
    assert finding.reason == "it may reach a.example.com:443, b.example, and nothing else"
    assert finding.risk is RiskLevel.MEDIUM


async def test_where_nobody_has_named_any_the_card_says_what_to_do() -> None:
    survey = await survey_hosts((INSTALL,), BOXED, hands())

    [finding] = survey.findings
    assert survey.facts == {"hosts": []}
    assert finding.reason.startswith("it may reach nothing: nobody has said which hosts npm may")
    assert "[[network]] in policy.toml" in finding.reason


@pytest.mark.parametrize(
    ("stages", "scene"),
    [((TEST,), BOXED), ((INSTALL,), Scene("/home/ada/project", isolated=False))],
    ids=["no-network", "no-box"],
)
async def test_nothing_is_promised_that_no_proxy_keeps(
    stages: tuple[Stage, ...], scene: Scene
) -> None:
    survey = await survey_hosts(stages, scene, hands("a.example.com"))

    assert (survey.facts, survey.findings) == ({}, ())


def test_only_what_may_use_a_network_gets_the_hosts() -> None:
    install, test = with_hosts((INSTALL, TEST), {"hosts": ["a.example.com"]})

    assert (install.hosts, test.hosts) == (("a.example.com",), ())


@pytest.mark.parametrize("facts", [None, {}])
def test_without_facts_there_are_no_hosts(facts: dict[str, object] | None) -> None:
    assert with_hosts((INSTALL,), facts) == (INSTALL,)
