"""A command line is read by the table: the command, and every command it starts."""

import pytest

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel, worst
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.reading import FileWord, Reading
from handrail.policy.rulebook.rules import Rules

HOUSE = """
[[command]]
name = "look"
risk = "low"
text = "first"
adds = ["--safe"]
asks = { "-w --write" = "writes a file" }
refuses = { "--burn*" = "burns the house down" }
examples = { "look x" = "low" }

[[command]]
name = "build"
risk = "medium"
reason = "builds"
obeys = ["plan.txt"]
examples = { "build wall" = "medium" }

[[command]]
names = ["build plan", "build plan again"]
risk = "low"
examples = { "build plan" = "low" }

[[command]]
name = "fetch"
risk = "medium"
reason = "fetches stones"
needs = "network"
examples = { "fetch x" = "medium" }

[[command]]
name = "guard"
reason = "stands watch"
needs = "running"
examples = { "guard" = "high" }

[[command]]
name = "steal"
risk = "forbidden"
reason = "is a crime"
examples = { "steal" = "forbidden" }

[[command]]
name = "wait"
risk = "low"
text = "all"
runs = { operands = 1, values = ["-k"] }
asks = { "-q" = "is quiet" }
examples = { "wait 5 look x" = "low" }

[[command]]
name = "search"
risk = "low"
text = "tests"
runs = { after = ["-exec", "-ok"] }
examples = { "search . -name x" = "low" }

[[command]]
name = "py"
risk = "medium"
reason = "runs code"
runs = { script = true, module = "-m", values = ["-W"] }
asks = { "-c" = "runs code from its arguments" }
examples = { "py x.py" = "medium" }
"""
LIST = Rules.parse(HOUSE, source="house.toml").command_list
LOW, MEDIUM, HIGH, FORBIDDEN = (
    RiskLevel.LOW,
    RiskLevel.MEDIUM,
    RiskLevel.HIGH,
    RiskLevel.FORBIDDEN,
)


def read(line: str) -> Reading:
    return read_line(LIST, line.split())


def risk_of(line: str) -> RiskLevel:
    return worst(read(line).findings)


def files_of(line: str) -> list[str]:
    return [file.word for file in read(line).files if file.certain]


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("wait 5 look x", LOW),
        ("wait -k 1 5 look x", LOW),
        ("wait -q 5 look x", HIGH),
        ("wait 5 look -w x", HIGH),
        ("wait 5 look -q x", LOW),
        ("wait 5 build wall", MEDIUM),
        ("wait 5 steal", FORBIDDEN),
        ("wait -k steal 5 look x", LOW),
        ("wait A=1 5 steal", FORBIDDEN),
        ("wait 5 wait 5 look --burning x", FORBIDDEN),
        ("wait 5 unknown", HIGH),
        ("wait 5 (look) x", FORBIDDEN),
        ("wait 5", LOW),
        ("wait", LOW),
    ],
)
def test_a_command_behind_operands_is_judged_too(line: str, risk: RiskLevel) -> None:
    assert risk_of(line) is risk


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("search . -exec look x ;", LOW),
        ("search . -exec look -w x ;", HIGH),
        ("search . -exec look x + -ok steal ;", FORBIDDEN),
        ("search . -exec steal", FORBIDDEN),
        ("search . -exec", LOW),
        ("search . -name steal", LOW),
    ],
)
def test_commands_behind_a_flag_are_judged_up_to_their_end(line: str, risk: RiskLevel) -> None:
    assert risk_of(line) is risk


@pytest.mark.parametrize(
    ("line", "risk", "scripts"),
    [
        ("py x.py", MEDIUM, ("x.py",)),
        ("py -W ignore x.py -c", MEDIUM, ("x.py",)),
        ("py -c x", HIGH, ("x",)),
        ("py -m steal x", FORBIDDEN, ()),
        ("py -m build -c", MEDIUM, ("plan.txt",)),
        ("py -m unknown", HIGH, ()),
        ("py -", MEDIUM, ()),
        ("py - x.py", MEDIUM, ()),
        ("py", MEDIUM, ()),
        ("build wall", MEDIUM, ("plan.txt",)),
    ],
)
def test_scripts_modules_and_obeyed_files_are_told(
    line: str, risk: RiskLevel, scripts: tuple[str, ...]
) -> None:
    found = read(line)
    assert (worst(found.findings), found.scripts) == (risk, scripts)


@pytest.mark.parametrize(
    ("line", "listens"),
    [
        *(("py", True), ("py -", True), ("py - x.py", True), ("py -W ignore", True)),
        *(("py x.py", False), ("py -m build", False), ("look", False), ("wait 5 py -", True)),
    ],
)
def test_a_command_without_a_script_listens_for_one(line: str, listens: bool) -> None:
    assert read(line).listens is listens


def test_the_flags_of_a_module_that_may_be_the_workspaces_own_open_no_network() -> None:
    found = read("py -m fetch x")
    assert (found.profile, found.networks) == (Profile.WRITE, ())
    assert worst(found.findings) is HIGH


def test_more_than_four_commands_that_start_each_other_are_refused() -> None:
    assert risk_of("wait 1 " * 4 + "look x") is LOW
    assert risk_of("wait 1 " * 5 + "look x") is FORBIDDEN


def test_reasons_begin_with_the_command_that_has_the_words() -> None:
    (finding,) = read("wait 5 look -w x").findings
    assert finding.reason == "look -w writes a file"
    assert finding.rule == "command.look"


def test_very_long_words_are_cut_in_reasons() -> None:
    (finding,) = read(f"look -w{'x' * 5_000} y").findings
    assert len(finding.reason) < 150


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("look x", "look --safe x"),
        ("wait 5 look x", "wait 5 look --safe x"),
        ("wait 5 wait 6 look x", "wait 5 wait 6 look --safe x"),
        ("search -exec look x ; -ok look y", "search -exec look --safe x ; -ok look --safe y"),
        ("build wall", "build wall"),
        ("./look x", "./look x"),
        ("py -m look x", "py -m look x"),
        ("unknown look x", "unknown look x"),
    ],
)  # fmt: skip
def test_words_are_added_right_behind_the_name(line: str, argv: str) -> None:
    assert read(line).argv == tuple(argv.split())


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("look x", ("look",)),
        ("build wall", ("build", "wall")),
        ("build plan", ("build", "plan")),
        ("build plan once", ("build", "plan", "once")),
        ("build plan again x", ("build", "plan", "again")),
        ("build -v wall", None),
        ("build https://x.example", None),
        ("fetch stone", ("fetch",)),
        ("fetch ./stone", None),
        ("fetch a/b", None),
        ("fetch @scope/stone", ("fetch",)),
        ("py x.py", None),
        ("py -m build x", ("py", "-m", "build")),
        ("wait 5 look x", None),
        ("bin/build wall", ("bin/build", "wall")),
        ("./unknown", None),
        ("unknown", None),
    ],
)
def test_the_kind_is_the_command_with_its_subcommand(
    line: str, kind: tuple[str, ...] | None
) -> None:
    assert read(line).kind == kind


@pytest.mark.parametrize(
    ("line", "profile", "networks", "rehearses"),
    [
        ("look x", Profile.READ, (), True),
        ("look -w x", Profile.WRITE, (), True),
        ("build wall", Profile.WRITE, (), True),
        ("unknown", Profile.WRITE, (), True),
        ("fetch x", Profile.NET, ("fetch",), False),
        ("guard", Profile.WRITE, (), False),
        ("wait 5 fetch x", Profile.NET, ("fetch",), False),
        ("wait 5 guard", Profile.WRITE, (), False),
        ("./look x", Profile.WRITE, (), True),
        ("steal", Profile.READ, (), False),
    ],
)
def test_the_box_is_the_widest_and_needs_keep_from_rehearsal(
    line: str, profile: Profile, networks: tuple[str, ...], rehearses: bool
) -> None:
    found = read(line)
    assert (found.profile, found.networks, found.rehearses) == (profile, networks, rehearses)


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("look pattern a b", ["a", "b"]),
        ("look -e pattern a", ["a"]),
        ("look -- -a b", ["b"]),
        ("look p -- -a", ["./-a"]),
        ("search a b -name c", ["a", "b"]),
        ("wait 5 look x a", ["a"]),
        ("py x.py a --b", ["x.py", "a"]),
        ("build wall --on roof", ["wall"]),
        ("unknown a -b c", ["a", "c"]),
    ],
)
def test_operands_that_may_name_files_are_told(line: str, files: list[str]) -> None:
    assert files_of(line) == files


def test_a_file_may_be_written_where_the_command_does_more_than_read() -> None:
    assert read("look x a").files == (FileWord("a", written=False),)
    assert FileWord("a", written=True) in read("build a").files
    assert FileWord("a", written=True) in read("./look x a").files


def test_a_word_behind_a_flag_is_not_certain_to_be_a_file() -> None:
    assert read("build -o a").files == (
        FileWord("-o", written=True, certain=False),
        FileWord("a", written=True, certain=False),
    )


@pytest.mark.parametrize("word", ["|", "&&", ";", ">", "2>&1", "<", ">out"])
def test_shell_syntax_as_an_operand_is_refused_with_advice(word: str) -> None:
    (finding,) = [one for one in read_line(LIST, ["build", word]).findings if one.risk is FORBIDDEN]
    assert finding.rule == "command.spelling"
    assert "use run_bash" in finding.reason


@pytest.mark.parametrize("name", ["cd", "export", "unset", "source", "."])
def test_a_shell_builtin_is_refused_with_advice(name: str) -> None:
    (finding,) = read(name).findings
    assert (finding.rule, finding.risk) == ("command.unlisted", FORBIDDEN)
    assert "is a shell builtin" in finding.reason
