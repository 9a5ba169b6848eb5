from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from handrail.core.access import Role, new_secret
from handrail.core.box import Profile
from handrail.core.errors import (
    BadInput,
    CommandExecutionError,
    ErrorType,
    PathValidationError,
)
from handrail.core.grant import CallClass
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.stage import Stage
from handrail.core.tool import Effect, JsonObject, Site, ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles, FakeHands
from handrail.tools.builtin.execute_command import ExecuteCommand, ExecuteCommandParams
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry

SCENE = Scene("/home/ada/project")
TOOL = ExecuteCommand()


class OneOutcome(FakeCommands):
    """Commands that end as told, and remember how they were asked."""

    def __init__(self, outcome: CommandOutcome):
        super().__init__({"make": b"", "npm": b"", "cat": b""})
        self._outcome = outcome
        self.asked: list[tuple[tuple[str, ...], float]] = []

    async def run(
        self,
        stages: Sequence[Stage],
        *,
        timeout_seconds: float,
        expected: JsonObject | None = None,
    ) -> CommandOutcome:
        self.asked += [(stage.argv, timeout_seconds) for stage in stages]
        return self._outcome


def params(*argv: str, **others: Any) -> ExecuteCommandParams:
    return ExecuteCommandParams(command=argv[0], args=list(argv[1:]), **others)


async def run(**outcome: Any) -> ToolResult:
    told: dict[str, Any] = {
        "stdout": b"",
        "stderr": b"",
        "ending": Ending.EXITED,
        "exit_code": 0,
        "seconds": 1.23456,
    }
    hands = Hands(files=FakeFiles({}), commands=OneOutcome(CommandOutcome(**{**told, **outcome})))
    return await TOOL.execute(params("make", "all"), SCENE, hands)


async def test_what_a_command_prints_comes_back() -> None:
    assert await run(stdout=b"built\n", stderr=b"slowly\n") == ToolResult(
        success=True,
        output="built\nslowly\n",
        fields={
            "stdout": "built\n",
            "stderr": "slowly\n",
            "exit_code": 0,
            "execution_time": 1.235,
            "truncated": False,
        },
    )


async def test_silent_command_has_no_output() -> None:
    assert (await run()).output == ""


async def test_command_that_ran_and_said_no_has_not_failed() -> None:
    result = await run(stdout=b"1 test failed", exit_code=1)
    assert (result.success, result.error, result.error_type) == (False, None, None)
    assert result.fields["exit_code"] == 1
    assert result.output == "1 test failed\n[exit code 1]"


async def test_command_that_took_too_long_has_failed_and_its_output_is_kept() -> None:
    result = await run(stdout=b"half", ending=Ending.TIMED_OUT, exit_code=None)
    assert result == ToolResult(
        success=False,
        output="half\n[make was ended: it took more than 30 s]",
        fields={
            "stdout": "half",
            "stderr": "",
            "exit_code": None,
            "execution_time": 1.235,
            "truncated": False,
        },
        error="make was ended: it took more than 30 s",
        error_type=ErrorType.EXECUTION_TIMEOUT,
    )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (-9, "make was killed by SIGKILL"),
        (-11, "make was killed by SIGSEGV"),
        (-99, "make was killed"),
        (None, "make was killed"),
    ],
)
async def test_command_that_was_killed_has_failed_and_its_output_is_kept(
    code: int | None, error: str
) -> None:
    result = await run(stderr=b"oh", ending=Ending.KILLED, exit_code=code)
    assert (result.success, result.error, result.error_type, result.output) == (
        False,
        error,
        ErrorType.EXECUTION,
        f"oh\n[{error}]",
    )


async def test_what_was_not_kept_is_told() -> None:
    result = await run(stdout=b"a", stderr=b"b\n", stdout_lost=1_234_567, stderr_lost=8)
    assert result.fields["truncated"] is True
    assert result.output == (
        "a\n[1,234,567 more bytes of stdout were not kept]\nb\n"
        "[8 more bytes of stderr were not kept]"
    )


async def test_output_that_is_no_text_is_shown_as_far_as_it_is() -> None:
    assert (await run(stdout=b"caf\xe9\n")).fields["stdout"] == "caf\ufffd\n"


@pytest.mark.parametrize("role", list(Role))
async def test_own_tokens_are_never_passed_on(role: Role) -> None:
    token = new_secret(role)
    result = await run(stdout=f"a {token}\n".encode(), stderr=f"{token}".encode())
    assert (result.fields["stdout"], result.fields["stderr"]) == ("a [masked]\n", "[masked]")
    assert result.output == "a [masked]\n[masked]"


async def test_other_secrets_are_passed_on_as_any_text_is() -> None:
    assert (await run(stdout=b"password=hunter2")).output == "password=hunter2"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "outside.txt").write_text("stolen")
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "a.txt").write_text("mine")
    (root / ".env").write_text("KEY=1")
    for name, target in {
        "out": "../outside.txt",
        "far": "/etc/hostname",
        "up": "..",
        "magic": "/proc/self/root",
        "env": ".env",
        "hooks": ".git/hooks",
        "new": ".git/hooks/pre-commit",
        "near": "a.txt",
        "-n": "../outside.txt",
        "run": "/bin/echo",
    }.items():
        (root / name).symlink_to(target)
    return root


@pytest.fixture
def hands(workspace: Path) -> Iterator[Hands]:
    with FileSystemExecutor(workspace) as files:
        yield Hands(files=files, commands=CommandExecutor(workspace))


@pytest.mark.parametrize(
    "argv",
    [
        ["cat", "out"],
        ["cat", "far"],
        ["cat", "up/outside.txt"],
        ["cat", "src/../up/outside.txt"],
        ["ls", "up"],
        ["cat", "magic/etc/hostname"],
        ["cat", "env"],
        ["cat", "--", "-n"],
        ["cat", "{root}/out"],
        ["nice", "cat", "out"],
        ["cp", "out", "b.txt"],
        ["cp", "a.txt", "hooks/pre-commit"],
        ["touch", "new"],
        ["git", "commit", "-Fout"],
        ["pytest", "--rootdir=up"],
        ["./run", "x"],
    ],
    ids=" ".join,
)
async def test_command_that_a_link_would_lead_astray_is_neither_approved_nor_run(
    workspace: Path, hands: Hands, argv: list[str]
) -> None:
    scene = Scene(str(workspace))
    call = params(*(word.format(root=workspace) for word in argv))
    assert judge_call(TOOL, call, scene).ruling is not Ruling.DENY
    with pytest.raises(PathValidationError):
        await TOOL.survey(call, scene, hands)
    with pytest.raises(PathValidationError):
        await TOOL.execute(call, scene, hands)


@pytest.mark.parametrize(
    ("argv", "output"),
    [
        (["cat", "a.txt"], "mine"),
        (["cat", "near"], "mine"),
        (["cat", "{root}/near"], "mine"),
        (["grep", "-h", "out", "a.txt", "near"], "[exit code 1]"),
        (["echo", "out", "up/x"], "out up/x\n"),
        (["ls", "src"], ""),
    ],
    ids=ascii,
)
async def test_command_whose_links_stay_inside_is_run(
    workspace: Path, hands: Hands, argv: list[str], output: str
) -> None:
    scene = Scene(str(workspace))
    call = params(*(word.format(root=workspace) for word in argv))
    survey = await TOOL.survey(call, scene, hands)
    assert survey.findings == ()
    assert (await TOOL.execute(call, scene, hands, survey.facts)).output == output
    assert (await TOOL.execute(call, scene, hands)).output == output


async def test_words_that_name_no_file_do_no_harm(workspace: Path, hands: Hands) -> None:
    words = ["nothing", "a.txt/x", "no/such/folder", "x" * 300, "caf\udce9", "a\nb", "origin/main"]
    survey = await TOOL.survey(params("git", "log", *words), Scene(str(workspace)), hands)
    assert survey.findings == ()


async def test_command_is_run_as_it_was_given() -> None:
    commands = OneOutcome(CommandOutcome(b"", b"", Ending.EXITED, 0, 0.0))
    hands = Hands(files=FakeFiles({}), commands=commands)
    await TOOL.execute(params("echo", "$HOME", "a b", timeout=7), SCENE, hands)
    assert commands.asked == [(("echo", "$HOME", "a b"), 7)]


async def test_stand_in_says_what_it_was_told_to_say() -> None:
    hands = FakeHands(commands={"ls": b"a\nb\n"})
    assert (await TOOL.execute(params("ls"), SCENE, hands)).output == "a\nb\n"
    assert isinstance(hands.commands, FakeCommands)
    assert hands.commands.ran == [("ls",)]
    with pytest.raises(CommandExecutionError):
        await TOOL.execute(params("pwd"), SCENE, hands)


@pytest.mark.parametrize(
    ("argv", "autonomy", "ruling", "seconds"),
    [
        (["ls"], Autonomy.READ_ONLY, Ruling.ALLOW, 0),
        (["ls"], Autonomy.SUPERVISED, Ruling.ALLOW, 0),
        (["npm", "install", "x"], Autonomy.READ_ONLY, Ruling.DENY, 0),
        (["npm", "install", "x"], Autonomy.SUPERVISED, Ruling.ASK, 300),
        (["npm", "install", "x"], Autonomy.FULL, Ruling.ALLOW, 0),
        (["make"], Autonomy.SUPERVISED, Ruling.ASK, 300),
        (["make"], Autonomy.FULL, Ruling.ALLOW, 0),
        (["rm", "-rf", "build"], Autonomy.FULL, Ruling.ASK, 600),
        (["rm", "-rf", "/"], Autonomy.FULL, Ruling.DENY, 0),
        (["no-such-thing"], Autonomy.FULL, Ruling.ASK, 600),
    ],
)
def test_verdict_follows_from_the_command_alone(
    argv: list[str], autonomy: Autonomy, ruling: Ruling, seconds: int
) -> None:
    verdict = judge_call(TOOL, params(*argv), Scene(SCENE.workspace, autonomy))
    assert (verdict.ruling, verdict.timeout_seconds) == (ruling, seconds)


@pytest.mark.parametrize("argv", [["ls"], ["npm", "install"], ["make"]])
def test_without_a_box_every_command_asks(argv: list[str]) -> None:
    verdict = judge_call(TOOL, params(*argv), Scene("/w", Autonomy.FULL, isolated=False))
    assert (verdict.ruling, verdict.risk) == (Ruling.ASK, RiskLevel.HIGH)
    assert verdict.findings[-1].rule == "command.unboxed"
    assert verdict.reasons[-1].startswith(
        "no box has been proven to work on that machine, so every command asks"
    )


def test_without_a_box_what_is_forbidden_stays_so() -> None:
    verdict = judge_call(TOOL, params("sudo", "ls"), Scene("/w", isolated=False))
    assert verdict.ruling is Ruling.DENY


def test_plan_is_what_would_be_started_and_in_which_box() -> None:
    words = params("nice", "rg", "x", "src")
    assert TOOL.plan(words, SCENE) == Plan(
        argv=(("nice", "rg", "--no-config", "x", "src"),),
        profiles=(Profile.READ,),
        rehearses=True,
    )


@pytest.mark.parametrize(
    ("argv", "rehearses"),
    [
        (["make"], True),
        (["no-such-thing"], True),
        (["npm", "install"], False),
        (["npm", "run", "dev"], False),
        (["git", "commit", "-m", "x"], True),
        (["git", "push"], False),
    ],
    ids=str,
)
def test_plan_says_whether_it_can_be_tried_first(argv: list[str], rehearses: bool) -> None:
    assert TOOL.plan(params(*argv), SCENE).rehearses is rehearses


async def test_what_was_planned_is_what_runs() -> None:
    commands = OneOutcome(CommandOutcome(b"", b"", Ending.EXITED, 0, 0.0))
    hands = Hands(files=FakeFiles({}), commands=commands)
    words = params("rg", "x", "src")
    await TOOL.execute(words, SCENE, hands)
    assert tuple(argv for argv, _ in commands.asked) == TOOL.plan(words, SCENE).argv


@pytest.mark.parametrize(
    ("argv", "preview"),
    [
        (["npm", "install", "express"], "Run npm install express"),
        (["git", "commit", "-m", "a b"], "Run git commit -m 'a b'"),
        (["echo", "a\nb"], "Run echo 'a\\nb'"),
        (["echo", ""], "Run echo ''"),
        (["echo", "\x1b[2J"], "Run echo '\\x1b[2J'"),
        (
            ["echo", *"abcdefghijklmnopqrstuvw"],
            "Run echo a b c d e f g h i j k l m n o p q r s … a",
        ),
    ],
    ids=ascii,
)
def test_preview_says_what_will_run(argv: list[str], preview: str) -> None:
    assert TOOL.preview(params(*argv)).startswith(preview)


def test_preview_of_very_much_is_short_and_says_that_there_is_more() -> None:
    preview = TOOL.preview(params("echo", *["x" * 10_000] * 1_000))
    assert len(preview) < 2_500
    assert preview.endswith("… and 981 more words")


def test_class_of_calls_is_the_command_and_its_subcommand() -> None:
    assert TOOL.call_class(params("npm", "install", "x"), SCENE) == CallClass(
        key="command:net:npm install", words="npm install …"
    )


@pytest.mark.parametrize(
    "argv", [["python", "-m", "x"], ["env", "ls"], ["rm", "x"], ["./npm", "ci"]]
)
def test_no_class_is_offered_where_it_would_cover_too_much(argv: list[str]) -> None:
    assert TOOL.call_class(params(*argv), SCENE) is None


def test_class_is_offered_without_a_box_as_with_one() -> None:
    assert TOOL.call_class(params("pytest"), Scene("/w", isolated=False)) is not None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "command"),
        ({"command": 1}, "command"),
        ({"command": "ls", "args": "-l"}, "args"),
        ({"command": "ls", "args": [1]}, "args.0"),
        ({"command": "ls", "timeout": 0}, "timeout"),
        ({"command": "ls", "timeout": 301}, "timeout"),
        ({"command": "ls", "timeout": 1.5}, "timeout"),
        ({"command": "ls", "cwd": "/"}, "cwd"),
    ],
    ids=ascii,
)
def test_bad_parameters_are_refused_by_name(given: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput, match=rf"^{field}: "):
        ToolRegistry([TOOL]).parse("execute_command", given)


def test_list_of_tools_shows_it_as_medium_and_as_a_change() -> None:
    definition = TOOL.definition
    assert (definition.name, definition.safety_level, definition.effect, definition.site) == (
        "execute_command",
        RiskLevel.MEDIUM,
        Effect.CHANGE,
        Site.CLIENT,
    )
