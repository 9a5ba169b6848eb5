from typing import Any, ClassVar

import pytest

import handrail
from handrail.core.errors import BadInput
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel, forbidden
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.policy.rulebook.rules import Rules
from handrail.tools.builtin.read_file import ReadFile
from handrail.tools.catalogue import builtin_registry, judge

# Nothing lies there: judging must not look.
NOWHERE = "/nowhere/at/all"


class Renamed(ReadFile):
    name: ClassVar[str] = "renamed"


def test_registry_is_a_new_one_each_time() -> None:
    one, two = builtin_registry(), builtin_registry()
    one.register(Renamed())
    assert "renamed" in [tool.name for tool in one]
    assert "renamed" not in [tool.name for tool in two]


def test_public_name_is_this_function() -> None:
    assert handrail.judge is judge


@pytest.mark.parametrize("autonomy", ["read_only", "supervised", "full", Autonomy.FULL])
def test_harmless_read_is_allowed_with_its_plan(autonomy: Autonomy | str) -> None:
    verdict = judge("read_file", {"path": "./README.md"}, workspace=NOWHERE, autonomy=autonomy)
    assert verdict == Verdict(Ruling.ALLOW, RiskLevel.LOW, (), 0, Plan(paths=("README.md",)))


@pytest.mark.parametrize("autonomy", Autonomy)
def test_read_outside_is_denied_with_the_reason_and_no_plan(autonomy: Autonomy) -> None:
    verdict = judge("read_file", {"path": "../x"}, workspace=NOWHERE, autonomy=autonomy)
    how = "a person can let agents read a folder there with `handrail folders add`"
    finding = forbidden("path.boundary", f"'../x' climbs out of the workspace; {how}")
    assert verdict == Verdict(Ruling.DENY, RiskLevel.FORBIDDEN, (finding,), 0, Plan())


def test_workspace_decides_what_lies_inside() -> None:
    params = {"path": "/srv/app/x"}
    assert judge("read_file", params, workspace="/srv/app").ruling is Ruling.ALLOW
    assert judge("read_file", params, workspace="/srv/apple").ruling is Ruling.DENY


def test_other_rules_can_be_given() -> None:
    rules = Rules(paths=())
    params = {"path": ".env"}
    assert judge("read_file", params, workspace=NOWHERE).ruling is Ruling.DENY
    assert judge("read_file", params, workspace=NOWHERE, policy=rules).ruling is Ruling.ALLOW


def test_unknown_tool_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"^no tool is named 'fly'"):
        judge("fly", {}, workspace=NOWHERE)


def test_parameters_that_do_not_fit_are_bad_input() -> None:
    with pytest.raises(BadInput, match=r"^path: "):
        judge("read_file", {}, workspace=NOWHERE)


def test_same_words_get_the_same_verdict() -> None:
    first = judge("read_file", {"path": "a/../b"}, workspace=NOWHERE)
    assert judge("read_file", {"path": "a/../b"}, workspace=NOWHERE) == first


def test_an_autonomy_that_is_none_is_bad_input() -> None:
    with pytest.raises(BadInput, match="reckless"):
        judge("read_file", {"path": "a"}, workspace="/w", autonomy="reckless")


def test_a_verdict_is_given_anew_once_anything_but_the_words_has_changed() -> None:
    call = {"command": "ls", "args": ["src"]}

    assert judge("execute_command", call, workspace=NOWHERE).risk is RiskLevel.LOW
    assert judge("execute_command", call, workspace=NOWHERE, isolated=False).risk is RiskLevel.HIGH
    verdict = judge("execute_command", call, workspace=NOWHERE, policy=Rules())
    assert [finding.rule for finding in verdict.findings] == ["command.unlisted"]
    assert judge("execute_command", call, workspace=NOWHERE).risk is RiskLevel.LOW


def test_words_with_a_secret_in_them_are_not_remembered() -> None:
    call = {"command": "echo", "args": ["ghp_" + "Ab3" * 12]}

    assert judge("execute_command", call, workspace=NOWHERE) is not judge(
        "execute_command", call, workspace=NOWHERE
    )


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize("depth", [100, 400, 1_000, 5_000, 100_000])
def test_words_nested_however_deep_are_bad_input(depth: int) -> None:
    with pytest.raises(BadInput):
        judge("execute_command", {"command": "ls", "args": nested(depth)}, workspace=NOWHERE)


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("execute_command", {"command": "ls", "timeout": 10**5000}),
        ("execute_command", {"command": 10**5000}),
        ("execute_command", {"command": {1, 2}}),
        ("execute_command", [1]),
        ("execute_command", None),
        (["execute_command"], {}),
        (None, {}),
    ],
    ids=map(str, range(7)),
)
def test_what_no_call_can_be_is_bad_input(tool: Any, params: Any) -> None:
    with pytest.raises(BadInput):
        judge(tool, params, workspace=NOWHERE)
