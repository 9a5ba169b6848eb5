"""Stages run as bash would run them, each in a box of its own and without a shell."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError, PathValidationError, StaleCommandError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Join, Stage, Stream
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.shell.lowering import lower
from handrail.policy.shell.script import Script, Step
from tests.executors.conftest import PYTHON

READ = Profile.READ


def stages(line: str) -> list[Stage]:
    """Words and joins by blanks; enough for what is tried here."""
    found: list[Stage] = []
    words: list[str] = []
    join = Join.FIRST
    for word in [*line.split(), ";"]:
        if word in {"|", "&&", "||", ";"}:
            found.append(Stage(tuple(words), READ, join))
            words, join = [], Join(word)
        else:
            words.append(word)
    return found


async def run(executor: CommandExecutor, steps: list[Stage], seconds: float = 30) -> CommandOutcome:
    return await executor.run(steps, timeout_seconds=seconds)


@pytest.mark.parametrize(
    "line",
    [
        "echo a | cat",
        "echo b | sort | uniq -c | cut -c 1-20",
        "true && echo yes",
        "false && echo no",
        "false || echo yes",
        "true || echo no",
        "false && echo no || echo yes",
        "true || echo no && echo yes",
        "false ; echo yes",
        "true ; false",
        "false | true",
        "true | false",
        "false | true && echo yes",
        "echo a ; echo b | cat ; echo c",
        "false && echo no | cat ; echo yes",
        "cat no-such-file | wc -l",
    ],
)
async def test_they_come_to_what_bash_makes_of_them(
    executor: CommandExecutor, root: Path, line: str
) -> None:
    truth = subprocess.run(["bash", "-c", line], cwd=root, capture_output=True, check=False)

    outcome = await run(executor, stages(line))

    assert (outcome.stdout, outcome.exit_code) == (truth.stdout, truth.returncode)


async def test_who_is_read_no_more_ends(executor: CommandExecutor) -> None:
    outcome = await run(executor, stages("yes | head -n 1"))

    assert (outcome.stdout, outcome.exit_code) == (b"y\n", 0)


async def test_much_passes_through_a_pipe(executor: CommandExecutor) -> None:
    outcome = await run(executor, stages("head -c 5000000 /dev/zero | wc -c"))

    assert outcome.stdout == b"5000000\n"


async def test_nothing_reads_what_nobody_has_written(executor: CommandExecutor) -> None:
    assert (await run(executor, stages("cat"))).stdout == b""


@pytest.mark.parametrize(
    ("stdout", "stderr", "heard", "complained"),
    [
        (Stream.OUT, Stream.ERR, b"a\n", True),
        (Stream.OUT, Stream.NULL, b"a\n", False),
        (Stream.NULL, Stream.NULL, b"", False),
        (Stream.NULL, Stream.ERR, b"", True),
        (Stream.ERR, Stream.ERR, b"", True),
        (Stream.ERR, Stream.NULL, b"", False),
    ],
)
async def test_streams_lead_where_they_were_sent(
    executor: CommandExecutor,
    root: Path,
    stdout: Stream,
    stderr: Stream,
    heard: bytes,
    complained: bool,
) -> None:
    (root / "a").write_text("a\n")
    stage = Stage(("cat", "a", "missing"), READ, stdout=stdout, stderr=stderr)

    outcome = await run(executor, [stage])

    assert outcome.stdout == heard
    assert (b"missing" in outcome.stderr) is complained
    assert (b"a\n" in outcome.stderr) is (stdout is Stream.ERR)


async def test_errors_go_down_a_pipe_where_they_were_sent_there(executor: CommandExecutor) -> None:
    steps = [
        Stage(("cat", "missing"), READ, stderr=Stream.OUT),
        Stage(("wc", "-l"), READ, Join.PIPE),
    ]
    outcome = await run(executor, steps)

    assert (outcome.stdout, outcome.stderr) == (b"1\n", b"")


@pytest.mark.parametrize(
    "line",
    [
        "sh -c 'echo a; echo b >&2' 2>&1 >/dev/null | tr ab xy",
        "sh -c 'echo a; echo b >&2' >/dev/null 2>&1 | tr ab xy",
        "sh -c 'echo a; echo b >&2' |& tr ab xy",
        "sh -c 'echo a; echo b >&2' 2>/dev/null |& tr ab xy",
        "sh -c 'echo a; echo b >&2' >&2 | tr ab xy",
        "sh -c 'echo a; echo b >&2' 2>&1 >&2 | tr ab xy",
        "sh -c 'echo a; echo b >&2' >&2 2>>/dev/null",
        "sh -c 'echo a; echo b >&2' 2>/dev/null >&2; echo c",
        "sh -c 'echo a; echo b >&2' &>>/dev/null || echo c",
        "cat <<'EOF' | tr a-z A-Z >&2\nit's $one\nEOF",
        "echo lost | cat <<'EOF' && echo end\none\nEOF",
        "cat <<-EOF; sort <<'F'\n\tone\n\tEOF\nb\na\nF\necho end",
        "echo \"$(cat <<'EOF'\nit's $one\n\nEOF\n)\" 👩\u200d💻 é",
    ],
)
async def test_what_is_lowered_writes_where_bash_would(
    executor: CommandExecutor, root: Path, line: str
) -> None:
    truth = subprocess.run(["bash", "-c", line], cwd=root, capture_output=True, check=False)
    script = lower(line)
    assert isinstance(script, Script), script

    outcome = await run(executor, [stage_of(step) for step in script.steps])

    assert (outcome.stdout, outcome.stderr) == (truth.stdout, truth.stderr)
    assert outcome.exit_code == truth.returncode


def stage_of(step: Step) -> Stage:
    argv = tuple(word.text for word in step.words)
    return Stage(argv, READ, step.join, stdout=step.stdout, stderr=step.stderr, stdin=step.stdin)


@pytest.mark.parametrize("profile", [READ, Profile.WRITE])
@pytest.mark.parametrize("text", ["", "one\n", "it's $one é 👩\u200d💻\n", "no end of line"])
async def test_a_text_is_read_to_its_end(
    executor: CommandExecutor, profile: Profile, text: str
) -> None:
    outcome = await run(executor, [Stage(("cat",), profile, stdin=text)])

    assert (outcome.stdout, outcome.exit_code) == (text.encode(), 0)


async def test_a_long_text_holds_nobody_up(executor: CommandExecutor) -> None:
    text = "0123456789\n" * 20_000
    steps = [
        Stage(("true",), READ, stdin=text),
        Stage(("head", "-n", "1"), READ, Join.THEN, stdin=text),
        Stage(("wc", "-c"), READ, Join.THEN, stdin=text),
        Stage(("cat",), READ, Join.THEN, stdin=text),
        Stage(("wc", "-l"), READ, Join.PIPE),
    ]
    outcome = await run(executor, steps)

    assert outcome.stdout.split() == [b"0123456789", b"220000", b"20000"]


async def test_a_text_goes_before_a_pipe_whose_writer_then_ends(executor: CommandExecutor) -> None:
    steps = [Stage(("yes",), READ), Stage(("cat",), READ, Join.PIPE, stdin="one\n")]
    outcome = await run(executor, steps)

    assert (outcome.stdout, outcome.exit_code) == (b"one\n", 0)


async def test_a_program_takes_a_text_for_its_code(executor: CommandExecutor) -> None:
    code = "import sys\nprint(sys.argv)\n"
    outcome = await run(executor, [Stage((PYTHON.name, "-", "a"), READ, stdin=code)])

    assert outcome.stdout == b"['-', 'a']\n"


async def test_no_program_can_change_the_text_it_reads(executor: CommandExecutor) -> None:
    code = (
        "import os\n"
        "for change in (lambda: os.write(0, b'x'), lambda: os.ftruncate(0, 0)):\n"
        "    try: change()\n"
        "    except OSError as error: print(error.errno == 1)\n"
    )
    stage = Stage((PYTHON.name, "-c", code), Profile.WRITE, stdin="one\n")

    assert (await run(executor, [stage])).stdout == b"True\nTrue\n"


async def test_an_approval_is_bound_to_the_text_that_is_read(executor: CommandExecutor) -> None:
    one, other = (Stage(("cat",), READ, stdin=text) for text in ("one", "other"))
    none = Stage(("cat",), READ)
    seen = [(await executor.look([stage])).facts for stage in (one, other, none)]
    assert seen[0] != seen[1] != seen[2] != seen[0]

    outcome = await executor.run([one], timeout_seconds=30, expected=seen[0])
    assert outcome.stdout == b"one"
    for stage in (other, none):
        with pytest.raises(StaleCommandError, match="the commands that run"):
            await executor.run([stage], timeout_seconds=30, expected=seen[0])


async def test_all_of_them_have_one_time_together(executor: CommandExecutor) -> None:
    outcome = await run(executor, stages("echo begun ; sleep 60 | cat ; echo never"), seconds=3)

    assert (outcome.ending, outcome.exit_code) == (Ending.TIMED_OUT, None)
    assert outcome.stdout == b"begun\n"


async def test_each_has_its_own_box(executor: CommandExecutor, root: Path) -> None:
    steps = [
        Stage(("sh", "-c", "echo x > made; echo y"), Profile.WRITE),
        Stage(("sh", "-c", "cat > kept"), READ, Join.PIPE),
    ]
    outcome = await run(executor, steps)

    assert [path.name for path in root.iterdir()] == ["made"]
    assert b"Read-only" in outcome.stderr


async def test_nothing_is_begun_where_one_of_them_is_not_installed(
    executor: CommandExecutor, root: Path
) -> None:
    steps = [
        Stage(("touch", "made"), Profile.WRITE),
        Stage(("no-such-program",), READ, Join.THEN),
    ]
    with pytest.raises(Exception, match="`no-such-program` is not installed on this machine"):
        await run(executor, steps)
    assert list(root.iterdir()) == []


async def test_each_runs_in_its_own_folder(executor: CommandExecutor, root: Path) -> None:
    (root / "src" / "deep").mkdir(parents=True)
    (root / "link").symlink_to("src")
    steps = [
        Stage(("pwd", "-P"), READ, folder="src/deep"),
        Stage(("pwd", "-P"), READ, Join.THEN),
        Stage(("pwd", "-P"), READ, Join.THEN, folder="link"),
        Stage(("touch", "made"), Profile.WRITE, Join.THEN, folder="src"),
    ]
    outcome = await run(executor, steps)

    assert outcome.stdout.decode().split() == [f"{root}/src/deep", f"{root}", f"{root}/src"]
    assert (root / "src" / "made").exists()


async def test_a_folder_may_be_made_by_what_runs_before(
    executor: CommandExecutor, root: Path
) -> None:
    steps = [
        Stage(("mkdir", "new"), Profile.WRITE),
        Stage(("pwd", "-P"), READ, Join.THEN, folder="new"),
    ]
    assert (await run(executor, steps)).stdout.decode() == f"{root}/new\n"


@pytest.mark.parametrize("folder", ["missing", "src/missing", "file"])
async def test_a_folder_that_is_not_there_is_called_so(
    executor: CommandExecutor, root: Path, folder: str
) -> None:
    (root / "src").mkdir()
    (root / "file").write_text("")
    with pytest.raises(CommandExecutionError) as raised:
        await run(executor, [Stage(("ls",), READ, folder=folder)])
    assert str(raised.value) == f"there is no folder {folder} in the workspace"


@pytest.mark.parametrize("target", ["..", "/etc", "../other"])
async def test_a_folder_that_leads_out_is_not_entered(
    executor: CommandExecutor, root: Path, target: str
) -> None:
    (root.parent / "other").mkdir()
    (root / "out").symlink_to(target)
    with pytest.raises(PathValidationError, match="a link that leads out of the workspace"):
        await run(executor, [Stage(("ls",), READ, folder="out")])


async def test_patterns_stand_for_files_of_their_folder(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "src").mkdir()
    for name in ("b.py", "a.py", "-rf", "c.txt"):
        (root / "src" / name).write_text(name)
    (root / "d.py").write_text("")
    steps = [
        Stage(("echo", "*.py", "*.py", "no*"), READ, patterns=(2, 3), folder="src"),
        Stage(("cat", "*"), READ, Join.THEN, patterns=(1,), folder="src"),
        Stage(("ls", "s*/*.t?t"), READ, Join.THEN, patterns=(1,)),
    ]
    outcome = await run(executor, steps)

    assert outcome.stdout == b"*.py ./a.py ./b.py no*\n-rfa.pyb.pyc.txt./src/c.txt\n"


async def test_a_pattern_finds_what_ran_before_it_has_made(
    executor: CommandExecutor, root: Path
) -> None:
    (root / "a").write_text("")
    steps = [
        Stage(("touch", "b"), Profile.WRITE),
        Stage(("ls", "*"), READ, Join.AND, patterns=(1,)),
    ]
    assert (await run(executor, steps)).stdout == b"./a\n./b\n"


async def test_no_pattern_opens_a_secret(executor: CommandExecutor, root: Path) -> None:
    (root / ".env").write_text("KEY=hunter2")
    (root.parent / "outside").write_text("hunter2")
    (root / "out").symlink_to("../outside")
    steps = [
        Stage(("cat", ".e*"), READ, patterns=(1,)),
        Stage(("cat", "o*"), READ, Join.THEN, patterns=(1,)),
    ]
    outcome = await run(executor, steps)

    assert b"hunter2" not in outcome.stdout + outcome.stderr
