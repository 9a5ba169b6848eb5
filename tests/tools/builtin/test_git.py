"""The tool git: one way more to ask for git, and none round its rules."""

import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from handrail.core.box import Profile
from handrail.core.errors import BadInput, PathValidationError
from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.tools.builtin.git import Git, GitParams
from handrail.tools.catalogue import judge
from handrail.tools.judgement import judge_call

TOOL = Git()
ROOT = "/home/ada/project"
SCENE = Scene(ROOT)
CORPUS = Path(__file__).parents[2] / "corpus" / "git_calls.toml"
CALLS = tomllib.loads(CORPUS.read_text(encoding="utf-8"))
ROWS = [(line, level) for level, lines in CALLS.items() for line in lines]


def params(line: str) -> GitParams:
    action, *args = shlex.split(line)
    return GitParams.model_validate({"action": action, "args": args})


def judged(tool: str, params: dict[str, Any], **how: Any) -> Verdict:
    return judge(tool, params, workspace=ROOT, **how)


def test_there_are_many_calls_and_none_twice() -> None:
    assert len(ROWS) == len({line for line, _ in ROWS}) >= 100
    assert {shlex.split(line)[0] for line, _ in ROWS} == {
        *("status", "diff", "log", "show", "blame", "ls-files", "add", "commit", "branch"),
        *("checkout", "push", "pull", "fetch", "clone"),
    }


@pytest.mark.behaviour("git.same-everywhere")
@pytest.mark.parametrize(("line", "level"), ROWS)
@pytest.mark.parametrize("isolated", [True, False])
def test_git_is_judged_the_same_by_whatever_tool(line: str, level: str, isolated: bool) -> None:
    action, *args = shlex.split(line)

    own = judged("git", {"action": action, "args": args}, isolated=isolated)

    command = {"command": "git", "args": [action, *args]}
    assert own == judged("execute_command", command, isolated=isolated)
    bash = judged("run_bash", {"command": shlex.join(["git", action, *args])}, isolated=isolated)
    assert (own.risk, own.ruling, own.plan) == (bash.risk, bash.ruling, bash.plan)
    expected = RiskLevel[level.upper()]
    assert own.risk is (expected if isolated else max(expected, RiskLevel.HIGH))


@pytest.mark.behaviour("git.no-force")
@pytest.mark.parametrize("line", CALLS["forbidden"])
@pytest.mark.parametrize("autonomy", ["read_only", "supervised", "full"])
def test_what_is_forbidden_is_refused_before_anyone_is_asked(line: str, autonomy: str) -> None:
    action, *args = shlex.split(line)
    verdict = judged("git", {"action": action, "args": args}, autonomy=autonomy)

    assert verdict.ruling is Ruling.DENY
    assert verdict.findings
    assert verdict.plan == Plan()


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"action": "rebase"}, "action"),
        ({"action": "push --force"}, "action"),
        ({"action": "-c"}, "action"),
        ({"action": "Status"}, "action"),
        ({}, "action"),
        ({"action": "log", "args": "-1"}, "args"),
        ({"action": "log", "args": [1]}, "args"),
        ({"action": "log", "timeout": 5}, "timeout"),
    ],
)
def test_what_is_no_call_is_refused_with_the_field(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        TOOL.read_params(given)


def test_it_runs_on_the_persons_machine_and_may_change_something() -> None:
    assert (TOOL.site, TOOL.effect) == (Site.CLIENT, Effect.CHANGE)


def test_plan_is_git_without_what_a_repository_would_have_it_run() -> None:
    assert TOOL.plan(params("log -1"), SCENE) == Plan(
        argv=(("git", "log", "--no-ext-diff", "--no-textconv", "-1"),),
        profiles=(Profile.READ,),
        rehearses=True,
    )
    assert TOOL.plan(params("push origin main"), SCENE).profiles == (Profile.NET,)


def test_a_person_sees_the_words() -> None:
    assert TOOL.preview(params("commit -m 'two words'")) == "Run git commit -m 'two words'"


def test_a_grant_for_git_holds_for_whatever_tool() -> None:
    kind = TOOL.call_class(params("commit -m x"), SCENE)
    assert kind == CallClass(key="command:write:git commit", words="git commit …")
    assert TOOL.call_class(params("push"), SCENE) is None


@pytest.mark.parametrize("line", ["push origin ''", "push origin '' main", "checkout ''"])
def test_an_empty_word_is_no_way_round(line: str) -> None:
    assert judge_call(TOOL, params(line), SCENE).risk >= RiskLevel.MEDIUM


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    lines = (
        "git init -q -b main . && git config user.name Ada && git config user.email a@b.c"
        " && echo one > a.txt && git add . && git commit -qm first && echo two > a.txt"
    )
    subprocess.run(["sh", "-ec", lines], cwd=made, check=True, capture_output=True)
    return made


async def test_a_repository_is_looked_at_and_changed(repository: Path) -> None:
    scene = Scene(str(repository))
    with FileSystemExecutor(repository) as files:
        hands = Hands(files=files, commands=CommandExecutor(repository))

        status = await TOOL.execute(params("status --short"), scene, hands)
        committed = await TOOL.execute(params("commit -qam second"), scene, hands)
        log = await TOOL.execute(params("log --format=%s"), scene, hands)

    assert status.output == " M a.txt\n"
    assert committed.success, committed.output
    assert log.fields["stdout"] == "second\nfirst\n"


async def test_a_link_that_leads_out_is_not_followed(repository: Path) -> None:
    (repository / "out").symlink_to("/etc/passwd")
    with FileSystemExecutor(repository) as files:
        hands = Hands(files=files, commands=CommandExecutor(repository))

        for act in (TOOL.survey, TOOL.execute):
            with pytest.raises(PathValidationError, match="out"):
                await act(params("commit -F out"), Scene(str(repository)), hands)
