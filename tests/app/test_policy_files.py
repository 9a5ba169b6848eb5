"""Policy files are read at the start, and again after a change."""

import os
from pathlib import Path

import pytest

from handrail.app.home import Home
from handrail.app.policy_files import OperatorFile, PolicyFile, WorkspacePolicy
from handrail.core.errors import RuleError
from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator

FLUX = "[[command]]\nname = 'flux'\nexamples = { 'flux get' = 'high' }\n"
CAREFUL = "[policy]\nautonomy = 'read_only'\n"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


def knows_flux(file: OperatorFile) -> bool:
    rules = file.rulebook.rules_for("")
    return any("flux" in rule.names for rule in rules.commands)


def test_a_file_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    file = PolicyFile(tmp_path / "none" / "policy.toml")

    assert (file.read(), file.is_changed()) == ("", False)


def test_a_change_is_noticed_whatever_it_is(tmp_path: Path) -> None:
    file = PolicyFile(tmp_path / "policy.toml")
    file.read()

    file.path.write_text("# one")
    assert file.is_changed()
    assert (file.read(), file.is_changed()) == ("# one", False)
    aside = tmp_path / "aside"
    aside.write_text("# two")
    aside.replace(file.path)
    assert file.is_changed()
    assert (file.read(), file.is_changed()) == ("# two", False)
    file.path.unlink()
    assert file.is_changed()
    assert (file.read(), file.is_changed()) == ("", False)


def test_what_is_no_file_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    pipe, folder, large, foreign = (tmp_path / name for name in ("pipe", "folder", "large", "f"))
    os.mkfifo(pipe)
    folder.mkdir()
    large.write_text("#" * 256_001)
    foreign.write_bytes(b"\xff")

    for path, word in (
        (pipe, "not a regular file"),
        (folder, "not a regular file"),
        (large, "more than 256,000 bytes"),
        (foreign, "not UTF-8"),
    ):
        with pytest.raises(RuleError, match=word):
            PolicyFile(path).read()


def test_a_file_that_cannot_be_looked_at_is_not_taken_for_none(tmp_path: Path) -> None:
    loop = tmp_path / "policy.toml"
    loop.symlink_to(loop)

    with pytest.raises(RuleError, match=r"policy\.toml cannot be read: Too many levels"):
        PolicyFile(loop).read()


def test_a_broken_file_stops_the_start_and_names_its_line(home: Home) -> None:
    (home.path / "policy.toml").write_text("[policy]\nautonomy = \n")

    with pytest.raises(RuleError, match=r"home/policy\.toml: not valid TOML: .*line 2"):
        OperatorFile(home)


async def test_the_operators_file_is_followed_and_a_broken_edit_changes_nothing(home: Home) -> None:
    file = OperatorFile(home)
    assert not knows_flux(file)

    file.path.write_text(FLUX)
    await file.follow()
    assert knows_flux(file)
    file.path.write_text(f"{FLUX}[broken")
    await file.follow()
    assert knows_flux(file)
    assert not file.reload()
    file.path.unlink()
    await file.follow()
    assert not knows_flux(file)


def test_a_workspace_has_the_rules_of_both_files(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "workspace" / ".handrail"
    folder.mkdir(parents=True)
    (home.path / "policy.toml").write_text(FLUX)
    (folder / "policy.toml").write_text(CAREFUL)

    policy = WorkspacePolicy(home, folder.parent)

    assert [ceiling.autonomy for ceiling in policy.rules.ceilings] == ["read_only"]
    assert any("flux" in rule.names for rule in policy.rules.commands)
    assert not policy.reload()
    (folder / "policy.toml").write_text("# nothing more")
    assert policy.reload()
    assert policy.rules.ceilings == ()
    (home.path / "policy.toml").write_text("[[command]]")
    # What it said of commands stays; what it says of hosts is not known.
    assert policy.reload()
    assert not policy.reload()
    assert any("flux" in rule.names for rule in policy.rules.commands)
    assert policy.rules.web.unknown


def test_of_a_broken_file_the_person_is_told_once_which_line_it_is_and_what_to_do(
    home: Home, tmp_path: Path
) -> None:
    told: list[str] = []
    policy = WorkspacePolicy(home, tmp_path, told.append)
    operator, project = policy.paths
    project.parent.mkdir()
    operator.write_text("[policy]\nautonomy = \n")
    project.write_text("\n[[path]]\nname = 'plans'\n")

    policy.reload()
    policy.reload()

    then = (
        ". The previous rules stay in force; fix the file, and check it with"
        " `handrail policy check`"
    )
    assert told == [
        f"{operator}: not valid TOML: Invalid value (at line 2, column 12)"
        f"{then.replace(';', ', but no host is reached;', 1)}",
        f".handrail/policy.toml: path rule 'plans': 'access' is missing{then}",
    ]


def test_the_operators_file_is_no_projects_in_the_folder_above(tmp_path: Path) -> None:
    home = Home(tmp_path / ".handrail")
    home.create()
    (home.path / "policy.toml").write_text(FLUX + "adds = ['-x']\n")

    policy = WorkspacePolicy(home, tmp_path)

    assert policy.text == ""
    assert not policy.reload()


def test_a_projects_row_without_a_risk_adds_only_what_its_words_say(home: Home) -> None:
    row = "[[command]]\nname = 'make'\nrefuses = { 'deploy*' = 'is for people' }\n"
    rules = OperatorFile(home).rulebook.rules_for(
        f"{row}examples = {{ 'make deploy' = 'forbidden' }}\n"
    )
    validator = CommandValidator("/home/ada/project", rules)

    assert worst(validator.validate_command("make", ["test"])) is RiskLevel.MEDIUM
    assert worst(validator.validate_command("make", ["deploy"])) is RiskLevel.FORBIDDEN
