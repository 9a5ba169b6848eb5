from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from handrail.core.box import Profile
from handrail.core.errors import (
    BadInput,
    CommandExecutionError,
    ErrorType,
    PathValidationError,
    StaleCommandError,
)
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.stage import Join, Stage
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles
from handrail.tools.builtin.execute_command import ExecuteCommand, ExecuteCommandParams
from handrail.tools.builtin.run_bash import RunBash, RunBashParams
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry

SCENE = Scene("/home/ada/project")
TOOL = RunBash()


class OneOutcome(FakeCommands):
    """Commands that end as told, and remember how they were asked."""

    def __init__(self, outcome: CommandOutcome):
        super().__init__({"cat": b"", "wc": b""})
        self._outcome = outcome
        self.asked: list[tuple[tuple[Stage, ...], float]] = []

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        self.asked.append((tuple(stages), timeout_seconds))
        return self._outcome


def line(command: str, **others: Any) -> RunBashParams:
    return RunBashParams(command=command, **others)


async def run(**outcome: Any) -> ToolResult:
    told: dict[str, Any] = {
        "stdout": b"",
        "stderr": b"",
        "ending": Ending.EXITED,
        "exit_code": 0,
        "seconds": 1.23456,
    }
    hands = Hands(files=FakeFiles({}), commands=OneOutcome(CommandOutcome(**{**told, **outcome})))
    return await TOOL.execute(line("ls | head"), SCENE, hands)


async def test_what_a_line_prints_comes_back() -> None:
    assert await run(stdout=b"a\n", stderr=b"oh\n") == ToolResult(
        success=True,
        output="a\noh\n",
        fields={
            "stdout": "a\n",
            "stderr": "oh\n",
            "exit_code": 0,
            "execution_time": 1.235,
            "truncated": False,
        },
    )


async def test_line_that_ran_and_said_no_has_not_failed() -> None:
    result = await run(stdout=b"1 differs", exit_code=1)
    assert (result.success, result.error, result.error_type) == (False, None, None)
    assert result.output == "1 differs\n[exit code 1]"


async def test_line_that_took_too_long_has_failed_and_its_output_is_kept() -> None:
    result = await run(stdout=b"half", ending=Ending.TIMED_OUT, exit_code=None)
    assert (result.success, result.error_type) == (False, ErrorType.EXECUTION_TIMEOUT)
    assert result.output == "half\n[it was ended: it took more than 30 s]"


async def test_line_that_was_killed_has_failed() -> None:
    result = await run(ending=Ending.KILLED, exit_code=-9)
    assert (result.error, result.error_type) == ("it was killed by SIGKILL", ErrorType.EXECUTION)


@pytest.mark.parametrize(
    ("text", "autonomy", "ruling", "seconds"),
    [
        ("ls | head", Autonomy.READ_ONLY, Ruling.ALLOW, 0),
        ("ls | head", Autonomy.SUPERVISED, Ruling.ALLOW, 0),
        ("cd src && wc -l *.py", Autonomy.SUPERVISED, Ruling.ALLOW, 0),
        ("ls; npm install x", Autonomy.READ_ONLY, Ruling.DENY, 0),
        ("ls; npm install x", Autonomy.SUPERVISED, Ruling.ASK, 300),
        ("ls; npm install x", Autonomy.FULL, Ruling.ALLOW, 0),
        ("ls && make", Autonomy.FULL, Ruling.ALLOW, 0),
        ("echo $HOME", Autonomy.READ_ONLY, Ruling.DENY, 0),
        ("echo $HOME", Autonomy.SUPERVISED, Ruling.ASK, 600),
        ("echo $HOME", Autonomy.FULL, Ruling.ASK, 600),
        ("ls; rm -rf /", Autonomy.FULL, Ruling.DENY, 0),
        ("echo $(rm -rf /)", Autonomy.FULL, Ruling.DENY, 0),
        ("cd .. && ls", Autonomy.FULL, Ruling.ASK, 600),
        ("  # nothing", Autonomy.FULL, Ruling.DENY, 0),
    ],
)
def test_verdict_follows_from_the_line_alone(
    text: str, autonomy: Autonomy, ruling: Ruling, seconds: int
) -> None:
    verdict = judge_call(TOOL, line(text), Scene(SCENE.workspace, autonomy))
    assert (verdict.ruling, verdict.timeout_seconds) == (ruling, seconds)


@pytest.mark.parametrize("text", ["ls | head", "npm install x", "echo $HOME"])
def test_without_a_box_every_line_asks(text: str) -> None:
    verdict = judge_call(TOOL, line(text), Scene("/w", Autonomy.FULL, isolated=False))
    assert (verdict.ruling, verdict.risk) == (Ruling.ASK, RiskLevel.HIGH)
    assert verdict.findings[-1].rule == "command.unboxed"


@pytest.mark.parametrize("text", ["ls; sudo ls", "echo $(sudo ls)", "ls; cd ..; sudo ls"])
def test_without_a_box_what_is_forbidden_stays_so(text: str) -> None:
    verdict = judge_call(TOOL, line(text), Scene("/w", isolated=False))
    assert verdict.ruling is Ruling.DENY


def test_words_are_judged_from_the_folder_they_are_meant_in() -> None:
    assert judge_call(TOOL, line("cat ../x", working_dir="src"), SCENE).ruling is Ruling.ALLOW
    assert judge_call(TOOL, line("cat ../../x", working_dir="src"), SCENE).ruling is Ruling.ASK
    assert judge_call(TOOL, line("ls", working_dir=".."), SCENE).ruling is Ruling.DENY


def test_plan_is_each_program_and_its_box() -> None:
    assert TOOL.plan(line("rg x src | head; npm test"), SCENE) == Plan(
        argv=(("rg", "--no-config", "x", "src"), ("head",), ("npm", "test")),
        profiles=(Profile.READ, Profile.READ, Profile.WRITE),
        rehearses=True,
    )
    assert not TOOL.plan(line("npm test; npm ci"), SCENE).rehearses


def test_plan_of_what_is_not_plain_is_bash_with_the_line_as_it_is() -> None:
    text = "for f in *; do cat $f; done"
    assert TOOL.plan(line(text), SCENE) == Plan(
        argv=(("bash", "--noprofile", "--norc", "-c", text),),
        profiles=(Profile.WRITE,),
        rehearses=True,
    )


async def test_what_was_planned_is_what_runs() -> None:
    commands = OneOutcome(CommandOutcome(b"", b"", Ending.EXITED, 0, 0.0))
    hands = Hands(files=FakeFiles({}), commands=commands)
    await TOOL.execute(line("cat a | wc -l *", timeout=7, working_dir="src"), SCENE, hands)
    assert commands.asked == [
        (
            (
                Stage(
                    ("cat", "a"), Profile.READ, folder="src", named=("src/a",), programs=("cat",)
                ),
                Stage(
                    ("wc", "-l", "*"),
                    Profile.READ,
                    Join.PIPE,
                    patterns=(2,),
                    folder="src",
                    named=("src/*",),
                    programs=("wc",),
                ),
            ),
            7,
        )
    ]


@pytest.mark.parametrize(
    ("text", "others", "preview"),
    [
        ("ls | head", {}, "Run: ls | head"),
        ("ls", {"working_dir": "src"}, "Run in src: ls"),
        ("ls\npwd", {}, "Run: ls\npwd"),
        ("echo \x1b[2J", {}, "Run: echo \\x1b[2J"),
        ("echo \u202egnp.exe", {}, "Run: echo \\u{202e}gnp.exe"),
        ("echo a\rls", {}, "Run: echo a\\x0dls"),
        ("ls", {"working_dir": "a\u202eb"}, "Run in a\\u{202e}b: ls"),
    ],
    ids=ascii,
)
def test_preview_shows_the_line_with_all_that_is_in_it(
    text: str, others: dict[str, Any], preview: str
) -> None:
    assert TOOL.preview(line(text, **others)) == preview


def test_preview_of_very_much_is_cut_and_says_how_much_more_there_is() -> None:
    preview = TOOL.preview(line("x" * 4_000 + "y" * 1_234))
    assert preview == f"Run: {'x' * 4_000}… [1,234 more characters]"


def test_class_of_calls_is_that_of_the_command_alone() -> None:
    alone = ExecuteCommand().call_class(
        ExecuteCommandParams(command="npm", args=["install", "x"]), SCENE
    )
    assert alone is not None
    assert TOOL.call_class(line("cd web && npm install y | tail -3"), SCENE) == alone


@pytest.mark.parametrize("text", ["npm install x; npm test", "X=1 npm test", "ls; rm x"])
def test_no_class_is_offered_where_it_would_cover_too_much(text: str) -> None:
    assert TOOL.call_class(line(text), SCENE) is None


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("stolen")
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "a.txt").write_text("mine\n")
    (root / "src" / "b.py").write_text("1\n2\n")
    (root / "src" / "c.py").write_text("3\n")
    (root / ".env").write_text("KEY=1")
    for name, target in {
        "out": "../outside.txt",
        "up": "..",
        "env": ".env",
        "near": "src",
        "src/out": "../../outside.txt",
    }.items():
        (root / name).symlink_to(target)
    return root


@pytest.fixture
def hands(workspace: Path) -> Iterator[Hands]:
    with FileSystemExecutor(workspace) as files:
        yield Hands(files=files, commands=CommandExecutor(workspace))


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("ls; cat out", "."),
        ("cat up/outside.txt | head", "."),
        ("cat env", "."),
        ("cat out", "src"),
        ("cd src && cat out", "."),
        ("cd near && cat out", "."),
        ("cd up && ls", "."),
        ("ls", "up"),
        ("echo $HOME", "up"),
        ("cp a.txt out", "."),
        ("cat ou?", "."),
        ("cat .e*", "."),
        ("cd src && cat o*", "."),
        ("ls; sort -o [o]ut a.txt", "."),
        ("true && cat en?", "."),
    ],
)
async def test_line_that_a_link_would_lead_astray_is_neither_approved_nor_run(
    workspace: Path, hands: Hands, text: str, folder: str
) -> None:
    scene, call = Scene(str(workspace)), line(text, working_dir=folder)
    assert judge_call(TOOL, call, scene).ruling is not Ruling.DENY
    with pytest.raises(PathValidationError):
        await TOOL.survey(call, scene, hands)
    with pytest.raises(PathValidationError):
        await TOOL.execute(call, scene, hands)


@pytest.mark.parametrize("text", ["cp a.txt note", "cp a.txt flows/ci", "sort -o flows/x a.txt"])
async def test_a_link_that_is_written_through_leads_where_it_was_seen_to_lead(
    workspace: Path, hands: Hands, text: str
) -> None:
    (workspace / "Makefile").write_text("all:")
    (workspace / ".github" / "workflows").mkdir(parents=True)
    scene, call = Scene(str(workspace)), line(text)
    assert (await TOOL.survey(call, scene, hands)).findings == ()
    (workspace / "note").symlink_to("Makefile")
    (workspace / "flows").symlink_to(".github/workflows")

    survey = await TOOL.survey(call, scene, hands)

    assert judge_call(TOOL, call, scene).risk is RiskLevel.HIGH
    await TOOL.execute(call, scene, hands, survey.facts)
    (workspace / "note").unlink()
    (workspace / "flows").unlink()
    with pytest.raises(StaleCommandError, match="changed since the call was checked: the file"):
        await TOOL.execute(call, scene, hands, survey.facts)


async def test_scripts_that_a_pattern_leads_to_are_bound(workspace: Path, hands: Hands) -> None:
    (workspace / "2").touch()
    (workspace / "3").write_text("print(1)")
    survey = await TOOL.survey(line("timeout [2-3] python3"), Scene(str(workspace)), hands)
    assert "the file 3" in survey.facts


@pytest.mark.parametrize(
    ("text", "folder", "output"),
    [
        ("cat a.txt | wc -l", ".", "1\n"),
        ("cat *.py | wc -l", "src", "3\n"),
        ("cd src && cat ../a.txt", ".", "mine\n"),
        ("cd near && pwd -P && cat c.py", ".", "{root}/src\n3\n"),
        ("cat nothing 2>/dev/null || echo none", ".", "none\n"),
        ("false; echo on", ".", "on\n"),
        ("x=3; echo $((x + 1)); echo done >&2", ".", "4\ndone\n"),
        ("ls $(echo b.py)", "src", "b.py\n"),
        ("exit 3", ".", "[exit code 3]"),
    ],
)
async def test_line_does_what_bash_would_do(
    workspace: Path, hands: Hands, text: str, folder: str, output: str
) -> None:
    scene, call = Scene(str(workspace)), line(text, working_dir=folder)
    survey = await TOOL.survey(call, scene, hands)
    assert survey.findings == ()
    result = await TOOL.execute(call, scene, hands, survey.facts)
    assert result.output == output.format(root=workspace)


@pytest.mark.parametrize("text", ["ls", "echo $HOME"])
@pytest.mark.parametrize("folder", ["nothing", "a.txt"])
async def test_folder_that_is_not_there_is_called_so(
    workspace: Path, hands: Hands, text: str, folder: str
) -> None:
    call = line(text, working_dir=folder)
    with pytest.raises(CommandExecutionError, match=f"no folder {folder} in the workspace"):
        await TOOL.execute(call, Scene(str(workspace)), hands)


async def test_line_that_takes_too_long_is_ended(workspace: Path, hands: Hands) -> None:
    call = line("echo begun; while :; do :; done", timeout=1)
    result = await TOOL.execute(call, Scene(str(workspace)), hands)
    assert result.error_type is ErrorType.EXECUTION_TIMEOUT
    assert result.fields["stdout"] == "begun\n"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "command"),
        ({"command": ""}, "command"),
        ({"command": 1}, "command"),
        ({"command": ["ls"]}, "command"),
        ({"command": "x" * 100_001}, "command"),
        ({"command": "ls", "timeout": 0}, "timeout"),
        ({"command": "ls", "timeout": 301}, "timeout"),
        ({"command": "ls", "working_dir": 1}, "working_dir"),
        ({"command": "ls", "args": []}, "args"),
    ],
    ids=lambda given: ascii(given)[:40],
)
def test_bad_parameters_are_refused_by_name(given: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput, match=rf"^{field}: "):
        ToolRegistry([TOOL]).parse("run_bash", given)


def test_it_is_known_as_shell_too() -> None:
    name, params = builtin_registry().resolve("shell", {"command": "ls | head"})
    assert (name, params) == ("run_bash", {"command": "ls | head"})


def test_list_of_tools_shows_it_as_medium_and_as_a_change() -> None:
    definition = TOOL.definition
    assert (definition.name, definition.safety_level, definition.effect, definition.site) == (
        "run_bash",
        RiskLevel.MEDIUM,
        Effect.CHANGE,
        Site.CLIENT,
    )
