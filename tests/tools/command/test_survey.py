"""What is on the card of a command: every word that runs, and what it may reach."""

import re
from collections.abc import Awaitable
from pathlib import Path

import pytest

from handrail.core.box import Profile, Room
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.sight import NAMED_FILES
from handrail.core.stage import Join, NamedFile, Stage
from handrail.core.survey import Survey
from handrail.executors.command import CommandExecutor
from handrail.testing import FakeFiles, FakeHands
from handrail.tools.command.survey import survey_stages

INSTALL = Stage(("npm", "install"), Profile.NET, networks=("npm",))
FACT = "the hosts that may be reached"


async def survey(*hosts: str) -> Survey:
    return await survey_stages(FakeHands(commands={"npm": b""}, hosts=hosts), (INSTALL,))


async def test_the_hosts_are_named_and_bound() -> None:
    survey_ = await survey("a.example.com:443", "b.example")

    [finding] = survey_.findings
    assert survey_.facts[FACT] == ["a.example.com:443", "b.example"]
    assert finding.reason == "it can reach only a.example.com:443, b.example"
    assert finding.risk is RiskLevel.MEDIUM


async def test_where_nobody_has_named_any_the_card_says_what_to_do() -> None:
    survey_ = await survey()

    [finding] = survey_.findings
    assert survey_.facts[FACT] == []
    assert finding.reason.startswith("it can reach no host: none is allowed for npm")
    assert "[[network]] to policy.toml" in finding.reason


async def test_nothing_is_promised_that_no_proxy_keeps() -> None:
    survey_ = await survey_stages(FakeHands(commands={"npm": b""}), (INSTALL,))

    assert FACT not in survey_.facts
    assert survey_.findings == ()


async def shown(*argv: str, profile: Profile = Profile.WRITE) -> Survey:
    return await survey_stages(FakeHands(commands={argv[0]: b""}), (Stage(argv, profile),))


KEY = "-----BEGIN PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("argv", "seen"),
    [
        (("bash", "-c", f"echo '{KEY}'; python3 evil.py"), "python3 evil.py"),
        (("bash", "-c", f": <<X\n{KEY}\nX\nreboot\nrm -rf src"), "reboot\n"),
        (("bash", "-c", f": <<X\n{KEY}\nX\nreboot\nrm -rf src"), "rm -rf src"),
        (("python3", "-c", f"k='{KEY}'\nimport shutil\nshutil.rmtree('src')"), "rmtree('src')"),
        (("bash", "-c", 'token="$(find src -exec touch {} +; python3 evil.py)"; ls'), "evil.py"),
        (("bash", "-c", "token=`python3 evil.py`"), "evil.py"),
        (("bash", "-c", "echo Authorization: x; python3 evil.py"), "evil.py"),
        (("bash", "-c", "echo x | tee token=y|evil"), "evil"),
        (("find", ".", "-name", "--token", "-exec", "cp", "a", "b", ";"), "-exec cp a b"),
        (("bash", "-c", "token= cp a b"), "cp a b"),
        (("xargs", "-I", "cookie:", "cp", "a", "b"), "cp a b"),
        (("bash", "-c", "xargs -I 'a'cookie: cp a 'b'"), "cookie: cp a"),
    ],
)
async def test_what_could_run_is_shown_whatever_it_looks_like(
    argv: tuple[str, ...], seen: str
) -> None:
    in_full = (await shown(*argv)).in_full
    assert seen in re.sub(r"\n *\d+│ ", "\n", in_full + "\n")


async def test_secrets_are_masked_in_what_is_stored_and_in_full_on_the_card() -> None:
    survey_ = await shown("env", "API_TOKEN=hunter2", "npm", "test", "--password", "hunter22")

    assert "hunter2" not in survey_.evidence
    assert "env 'API_TOKEN=[masked]' npm test --password [masked]" in survey_.evidence
    assert "env API_TOKEN=hunter2 npm test --password hunter22" in (survey_.unmasked or "")
    assert survey_.findings == ()


@pytest.mark.parametrize(
    "argv",
    [
        ("bash", "-c", "export PASSWORD='correct horse'"),
        ("mysql", "--password", "correct horse"),
        ("git", "commit", "-m", "set password: horse|pipe for ada"),
    ],
)
async def test_a_secret_is_masked_whole_in_what_is_stored(argv: tuple[str, ...]) -> None:
    survey_ = await shown(*argv)

    assert "horse" not in survey_.evidence
    assert "horse" in survey_.in_full


async def given(text: str) -> Survey:
    stage = Stage(("python3", "-"), Profile.WRITE, stdin=text)
    return await survey_stages(FakeHands(commands={"python3": b""}), (stage,))


async def test_the_text_that_a_command_reads_is_shown_and_bound() -> None:
    told = await given("import os\n\nprint(os)\n")

    lines = told.evidence.split("\n")
    assert lines[:5] == [
        "runs     python3 -",
        "reads    this text:",
        "         │ import os",
        "         │ ",
        "         │ print(os)",
    ]
    assert told.facts != (await given("import os\n\nprint(us)\n")).facts


async def test_secrets_in_a_text_that_is_read_are_masked_where_it_is_stored() -> None:
    told = await given("token = 'ghp_0123456789abcdefghijABCDEFGHIJ456789'\nreboot\n")

    assert "ghp_0123456789" not in told.evidence
    assert "ghp_0123456789" in told.in_full
    assert "│ reboot" in told.evidence


async def test_what_only_looks_may_look_for_what_is_like_a_secret() -> None:
    survey_ = await shown("rg", "token = abc", profile=Profile.READ)

    assert survey_.findings == ()


async def test_arguments_of_several_lines_are_told_apart() -> None:
    one = (await shown("python3", "-c", "import os\nos.remove('x')", "a\nb")).evidence
    other = (await shown("python3", "-c", "import os", "os.remove('x')\na\nb")).evidence
    sign = (await shown("python3", "│1│")).evidence

    assert "python3 -c │1│ │2│\n" in one
    assert "        1│ os.remove('x')\n        2│ a\n" in one
    assert "python3 -c 'import os' │1│\n" in other
    assert "python3 '│1│'" in sign


@pytest.mark.parametrize(
    ("room", "told"),
    [
        (Room(Profile.READ, False), "can read this folder, but write nothing; no network"),
        (Room(Profile.WRITE, False), "can write to this folder except .git; no network"),
        (Room(Profile.WRITE, True), "can write to this folder and its .git; no network"),
        (
            Room(Profile.NET, False),
            "can write to this folder except .git; can reach only the hosts named above",
        ),
    ],
)
async def test_the_card_says_what_a_command_can_do_at_most(room: Room, told: str) -> None:
    hands = FakeHands(commands={"make": b""})
    hands.commands.room = room
    survey_ = await survey_stages(hands, (Stage(("make",), room.profile),))

    assert survey_.evidence.splitlines()[-1] == f"box      {told}"


async def test_that_no_box_is_there_is_said() -> None:
    told = "none works on this machine: it runs with all your rights"

    assert (await shown("make")).evidence.splitlines()[-1] == f"box      {told}"


def seen_in(root: Path, *stages: Stage) -> Awaitable[Survey]:
    (root / "mod.py").write_text("print(1)\n")
    hands = Hands(FakeFiles({}), CommandExecutor(root))
    return survey_stages(hands, stages)


SCRIPT = (NamedFile("mod.py"),)


async def test_a_file_that_the_other_end_of_a_pipe_may_change_is_not_called_bound(
    tmp_path: Path,
) -> None:
    writing = Stage(("tee", "mod.py"), Profile.WRITE)
    running = Stage(("python3", "mod.py"), Profile.WRITE, Join.PIPE, scripts=SCRIPT)
    survey_ = await seen_in(tmp_path, writing, running)

    assert "at first mod.py (sha256 " in survey_.evidence
    assert "pinned   mod.py" not in survey_.evidence
    [finding] = survey_.findings
    assert (finding.rule, finding.risk) == ("command.changed-beside", RiskLevel.HIGH)


@pytest.mark.parametrize(
    ("count", "others"),
    [(3, "2 other files that it would load"), (2, "1 other file that it would load")],
)
async def test_of_names_under_which_nothing_is_one_is_told_and_the_others_counted(
    tmp_path: Path, count: int, others: str
) -> None:
    names = (NamedFile("app.py"), NamedFile("app.pyc"), NamedFile("app.*.so", is_pattern=True))
    running = Stage(("python3", "-m", "app"), Profile.WRITE, scripts=names[:count])
    survey_ = await seen_in(tmp_path, running)

    told = [line for line in survey_.evidence.splitlines() if "app." in line]
    assert told == [f"requires app.py and {others} must not exist"]
    assert len(survey_.facts) > len(told) + count


async def test_a_file_beside_which_only_is_looked_is_bound(tmp_path: Path) -> None:
    running = Stage(("python3", "mod.py"), Profile.WRITE, scripts=SCRIPT)
    looking = Stage(("head", "-5"), Profile.READ, Join.PIPE)
    survey_ = await seen_in(tmp_path, running, looking)

    assert "pinned   mod.py must not change before it runs (sha256 " in survey_.evidence
    assert survey_.findings == ()


NAMED = tuple(map(NamedFile, ("mod.py", "src", "absent.py")))


async def test_every_file_that_the_words_name_is_bound(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    told = Stage(("python3", "-m", "doctest", "mod.py"), Profile.WRITE, named=NAMED)
    before = await seen_in(tmp_path, told)
    (tmp_path / "absent.py").touch()
    after = await seen_in(tmp_path, told)

    assert "pinned   mod.py must not change before it runs (sha256 " in before.evidence
    assert "absent.py" not in before.evidence
    assert before.facts[NAMED_FILES] != after.facts[NAMED_FILES]


async def test_a_file_that_a_step_before_may_write_is_not_called_bound(tmp_path: Path) -> None:
    writing = Stage(("cp", "a", "mod.py"), Profile.WRITE)
    told = Stage(("python3", "-m", "doctest"), Profile.WRITE, Join.AND, named=NAMED)
    survey_ = await seen_in(tmp_path, writing, told)

    assert "at first mod.py (sha256 " in survey_.evidence
    assert survey_.findings == ()


async def test_a_named_file_that_the_other_end_of_a_pipe_may_change_raises_the_call(
    tmp_path: Path,
) -> None:
    writing = Stage(("cp", "a", "mod.py"), Profile.WRITE)
    told = Stage(("cp", "mod.py", "b"), Profile.WRITE, Join.PIPE, named=NAMED)
    survey_ = await seen_in(tmp_path, writing, told)

    assert "at first mod.py (sha256 " in survey_.evidence
    [finding] = survey_.findings
    assert (finding.rule, finding.risk) == ("command.changed-beside", RiskLevel.HIGH)


async def test_so_does_a_folder_that_the_other_end_may_fill(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    writing = Stage(("cp", "-r", "a", "src"), Profile.WRITE)
    told = Stage(("cp", "-r", "src", "b"), Profile.WRITE, Join.PIPE, named=(NamedFile("src"),))
    survey_ = await seen_in(tmp_path, writing, told)

    [finding] = survey_.findings
    assert finding.reason == "a file that it uses may be changed by an earlier part of the line"
    assert finding.risk is RiskLevel.HIGH


@pytest.mark.parametrize("loads", [True, False])
async def test_what_runs_code_is_said_to_load_more_than_is_bound(
    tmp_path: Path, loads: bool
) -> None:
    survey_ = await seen_in(tmp_path, Stage(("python3", "mod.py"), Profile.WRITE, loads=loads))

    said = "unpinned other files this program loads are not checked" in survey_.evidence
    assert said is loads


async def test_a_file_that_a_line_of_bash_runs_is_not_called_bound(tmp_path: Path) -> None:
    line = Stage(("bash", "-c", "echo 1 > mod.py; python3 mod.py"), Profile.WRITE, scripts=SCRIPT)
    survey_ = await seen_in(tmp_path, line)

    assert "at first mod.py (sha256 " in survey_.evidence


async def test_what_is_too_much_to_be_shown_raises_the_call() -> None:
    survey_ = await shown("sed", "-i", *["s/a/b/"] * 20_000)
    looking = await shown("grep", *["s/a/b/"] * 20_000, profile=Profile.READ)

    [finding] = survey_.findings
    assert (finding.rule, finding.risk) == ("command.shown-in-part", RiskLevel.HIGH)
    left_out = re.search(r"… \[([\d,]+) characters not shown\] …", survey_.evidence)
    assert left_out is not None
    assert finding.reason == f"{left_out[1]} characters of what would run are not shown"
    assert survey_.evidence.split("\n")[-1].startswith("box      ")
    assert looking.findings == ()
