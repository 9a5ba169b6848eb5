"""What is on the card of a command: every word that runs, and what it may reach."""

import re
from collections.abc import Awaitable
from pathlib import Path

import pytest

from handrail.core.box import Profile, Room
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.stage import Join, Stage
from handrail.core.survey import Survey
from handrail.executors.commands.executor import CommandExecutor
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


async def test_every_file_that_the_words_name_is_bound(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    told = Stage(("python3", "mod.py"), Profile.WRITE, named=("mod.py", "src", "absent.py"))
    before = await seen_in(tmp_path, told)
    (tmp_path / "absent.py").touch()
    after = await seen_in(tmp_path, told)

    assert "pinned   mod.py must not change before it runs (sha256 " in before.evidence
    assert "unpinned src is a folder, and its files may change" in before.evidence
    assert "absent.py" not in before.evidence
    assert "the file absent.py" in after.facts


async def test_a_file_that_must_not_appear_is_named(tmp_path: Path) -> None:
    survey_ = await seen_in(tmp_path, Stage(("make",), Profile.WRITE, obeys=("GNUmakefile",)))

    assert "requires GNUmakefile must not exist" in survey_.evidence
    assert survey_.facts["the file GNUmakefile"] == "absent:ENOENT"


LATER = "unpinned an earlier part of the line may change files that a later part uses"


@pytest.mark.parametrize("join", [Join.PIPE, Join.AND])
async def test_that_an_earlier_step_may_change_files_is_said(tmp_path: Path, join: Join) -> None:
    writing = Stage(("tee", "mod.py"), Profile.WRITE)
    running = Stage(("python3", "mod.py"), Profile.WRITE, join, obeys=("mod.py",))

    assert LATER in (await seen_in(tmp_path, writing, running)).evidence
    assert LATER not in (await seen_in(tmp_path, running)).evidence


async def test_that_a_line_of_bash_may_change_them_is_said(tmp_path: Path) -> None:
    argv = ("bash", "--noprofile", "--norc", "-c", "echo 1 > mod.py; python3 mod.py")

    assert LATER in (await seen_in(tmp_path, Stage(argv, Profile.WRITE))).evidence


@pytest.mark.parametrize("profile", [Profile.WRITE, Profile.READ])
async def test_what_does_more_than_read_is_said_to_load_other_files(
    tmp_path: Path, profile: Profile
) -> None:
    survey_ = await seen_in(tmp_path, Stage(("python3", "mod.py"), profile))

    said = "unpinned it may load other files, as they are when it runs" in survey_.evidence
    assert said is (profile is Profile.WRITE)


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
