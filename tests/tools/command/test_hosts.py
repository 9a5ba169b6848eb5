"""Hosts that an agent asks for beside a command: a person sees them, and the policy holds."""

from dataclasses import replace
from typing import Any

import pytest

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.security import Scene
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call

REGISTRY = builtin_registry()
SCENE = Scene("/home/ada/project", rehearses=True)
CALLS = [
    ("execute_command", {"command": "python3", "args": ["fetch.py"]}),
    ("run_bash", {"command": "python3 fetch.py"}),
    ("run_bash", {"command": "for x in 1 2; do python3 fetch.py; done"}),
]
both = pytest.mark.parametrize(("name", "params"), CALLS, ids=["argv", "line", "bash"])


def judge(name: str, params: dict[str, Any], scene: Scene = SCENE) -> Verdict:
    return judge_call(*REGISTRY.parse(name, params), scene)


@both
@pytest.mark.behaviour("command.hosts")
def test_a_command_with_hosts_is_asked_about_before_it_runs(
    name: str, params: dict[str, Any]
) -> None:
    assert judge(name, params).ruling is Ruling.REHEARSE
    tool, checked = REGISTRY.parse(name, {**params, "hosts": ["api.example.com"]})

    verdict = judge_call(tool, checked, SCENE)

    assert (verdict.ruling, verdict.risk) == (Ruling.ASK, RiskLevel.HIGH)
    assert "asks for network access to api.example.com" in verdict.reasons
    assert verdict.plan.hosts == ("api.example.com",)
    assert verdict.plan.profiles == (Profile.NET,)
    assert "with access to api.example.com" in tool.preview(checked)
    assert tool.call_class(checked, SCENE) is None


@both
@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1", "private network"),
        ("router.local", "private network"),
        ("169.254.169.254", "no request may reach"),
        ("api.example.com:8443", "port other than 80 and 443"),
        ("https://example.com/", "neither a host nor host:port"),
        ("*.example.com", "is not a host name"),
        ("", "is empty"),
    ],
)
def test_hosts_that_no_request_may_reach_are_refused(
    name: str, params: dict[str, Any], host: str, why: str
) -> None:
    verdict = judge(name, {**params, "hosts": [host]})

    assert verdict.ruling is Ruling.DENY
    assert why in "; ".join(verdict.reasons)


@both
def test_the_hosts_that_the_operator_lists_are_the_only_ones(
    name: str, params: dict[str, Any]
) -> None:
    listed = operator_rules('[http]\nallowed_hosts = ["api.example.com"]', "policy.toml")
    scene = replace(SCENE, rules=Rulebook(listed).rules_for(""))

    assert judge(name, {**params, "hosts": ["api.example.com"]}, scene).ruling is Ruling.ASK
    assert judge(name, {**params, "hosts": ["other.example.com"]}, scene).ruling is Ruling.DENY


def test_stages_that_only_read_and_git_reach_no_host() -> None:
    line = "grep x a.txt | python3 fetch.py; git commit -m x"

    verdict = judge("run_bash", {"command": line, "hosts": ["api.example.com"]})

    assert verdict.plan.profiles == (Profile.READ, Profile.NET, Profile.WRITE)


def test_a_call_cannot_ask_for_too_many_hosts() -> None:
    hosts = [f"{number}.example.com" for number in range(21)]
    with pytest.raises(Exception, match="hosts"):
        REGISTRY.parse("run_bash", {"command": "x", "hosts": hosts})
