"""What of the network is on the card."""

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.testing import FakeHands
from handrail.tools.command_survey import survey_stages

INSTALL = Stage(("npm", "install"), Profile.NET, networks=("npm",))
FACT = "the hosts that may be reached"


async def survey(*hosts: str) -> Survey:
    return await survey_stages(FakeHands(commands={"npm": b""}, hosts=hosts), (INSTALL,))


async def test_the_hosts_are_named_and_bound() -> None:
    survey_ = await survey("a.example.com:443", "b.example")

    [finding] = survey_.findings
    assert survey_.facts[FACT] == ["a.example.com:443", "b.example"]
    assert finding.reason == "it may reach a.example.com:443, b.example, and nothing else"
    assert finding.risk is RiskLevel.MEDIUM


async def test_where_nobody_has_named_any_the_card_says_what_to_do() -> None:
    survey_ = await survey()

    [finding] = survey_.findings
    assert survey_.facts[FACT] == []
    assert finding.reason.startswith("it may reach nothing: nobody has said which hosts npm may")
    assert "[[network]] in policy.toml" in finding.reason


async def test_nothing_is_promised_that_no_proxy_keeps() -> None:
    survey_ = await survey_stages(FakeHands(commands={"npm": b""}), (INSTALL,))

    assert FACT not in survey_.facts
    assert survey_.findings == ()
