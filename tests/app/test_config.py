"""The person's file of settings: read afresh, changed in its place, and clear when it is broken."""

import os
import stat
from pathlib import Path

import pytest

from handrail.app.config import Config, RunLimits
from handrail.app.home import Home
from handrail.core.configuration import (
    DAILY_TOKENS,
    INSTRUCTIONS,
    MAX_TURNS,
    MODEL,
    SETTINGS,
    Entry,
    Source,
)
from handrail.core.errors import BadInput, SetupError

WRITTEN = """\
# mine
[agent]   # the agent
model = 'x'   # a good one
max_turns = 5

# what else
[other]
thing = [1,
         2]
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.create()
    return made


def entry(config: Config, key: str) -> Entry:
    return next(one for one in config.entries() if one.setting.name == key)


def test_without_a_file_the_defaults_hold(home: Home) -> None:
    config = Config(home)

    assert {one.setting.name: one.value for one in config.entries()} == {
        name: setting.default for name, setting in SETTINGS.items()
    }
    assert config.run_limits() == RunLimits(50, 200, 3_600, 120_000)
    assert (config.number(DAILY_TOKENS), config.text(INSTRUCTIONS)) == (None, "")


def test_what_is_said_on_the_spot_comes_before_the_file(home: Home) -> None:
    home.config.write_text(WRITTEN)
    config = Config(home, {MODEL.name: "y"})

    assert entry(config, "agent.model") == Entry(MODEL, "y", Source.ENVIRONMENT)
    assert entry(config, "agent.max_turns") == Entry(MAX_TURNS, 5, Source.FILE)
    assert entry(config, "agent.max_calls").source is Source.DEFAULT


@pytest.mark.behaviour("config.layout")
def test_a_change_leaves_all_else_as_it_was_written(home: Home) -> None:
    home.config.write_text(WRITTEN)
    config = Config(home)

    config.set("agent.max_turns", "7")
    assert home.config.read_text() == WRITTEN.replace("max_turns = 5", "max_turns = 7")
    config.unset("agent.max_turns")
    assert home.config.read_text() == WRITTEN.replace("max_turns = 5\n", "")
    assert stat.S_IMODE(home.config.stat().st_mode) == 0o600
    assert [path.name for path in home.path.glob("*.tmp")] == []


@pytest.mark.parametrize(
    "written",
    ["", "agent.model = 'x'\n", "agent = { model = 'x' }\n", "[agent.deeper]\nx = 1\n", "# only\n"],
)
def test_a_value_finds_its_place_in_any_layout(home: Home, written: str) -> None:
    home.config.write_text(written)
    config = Config(home)

    config.set("agent.model", "new")
    config.set("budget.daily_tokens", "1000")

    again = Config(home)
    assert (again.text(MODEL), again.number(DAILY_TOKENS)) == ("new", 1_000)


@pytest.mark.parametrize(
    "words",
    [
        "one",
        "two\nlines",
        "\nfirst is empty",
        'all """ of \\ it\'s',
        "tab\there",
        "é ∀",
        "a\n",
        "# no",
    ],
)
def test_any_text_is_read_back_as_it_was_given(home: Home, words: str) -> None:
    Config(home).set("agent.instructions", words)

    assert Config(home).text(INSTRUCTIONS) == words


def test_lines_are_added_to_a_text_alone(home: Home) -> None:
    config = Config(home)

    assert config.append("agent.instructions", "Be brief.").value == "Be brief."
    assert config.append("agent.instructions", "Be kind.").value == "Be brief.\nBe kind."
    with pytest.raises(BadInput, match="is not a text, so nothing can be added"):
        config.append("agent.model", "x")
    with pytest.raises(BadInput, match="up to 8,000 characters"):
        config.append("agent.instructions", "a" * 7_990)


def test_what_changes_nothing_writes_nothing(home: Home) -> None:
    Config(home).unset("agent.model")
    assert not home.config.exists()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("agent.nothing", "x", "there is no setting 'agent.nothing'"),
        (
            "agent.max_turns",
            "many",
            "agent.max_turns cannot have this value; it must be a whole number",
        ),
        ("agent.provider", "oracle", "one of anthropic, openai, scripted"),
        ("agent.model", "", "one line"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    home: Home, key: str, value: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        Config(home).set(key, value)
    assert not home.config.exists()


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("[agent]\nmodel = \n", "invalid value .at line 2, column 9."),
        ("[agent]\nmax_turns = 'x'\n", "agent.max_turns must be a whole number from 1 to 10,000"),
        ("[agent]\nmax_turns = true\n", "agent.max_turns must be"),
        ("[agent.model]\nx = 1\n\n[agent.provider]\n", None),
        ("x = " + "[" * 5_000, "config.toml cannot be read"),
        ("x = '\x00'", "at line 1"),
        ("# a\n[agent", "at line 2, column 7"),
    ],
)
def test_a_broken_file_is_told_in_one_sentence(home: Home, written: str, words: str | None) -> None:
    home.config.write_text(written)
    if words is None:
        assert Config(home).unknown == ("agent.model.x",)
        return
    with pytest.raises(SetupError, match=words) as told:
        Config(home)
    assert str(home.config) in str(told.value)
    assert "\n" not in str(told.value)


def test_what_is_no_text_is_told(home: Home) -> None:
    home.config.write_bytes(b"\xff")
    with pytest.raises(SetupError, match="is not UTF-8"):
        Config(home)
    home.config.unlink()
    os.mkfifo(home.config)
    with pytest.raises(SetupError, match="not a regular file"):
        Config(home)


def test_names_that_mean_nothing_are_told(home: Home) -> None:
    home.config.write_text('"agent.model" = 1\n[agent]\nmodle = "x"\n[agent.limits]\nx = 1\n')

    assert Config(home).unknown == ("'agent.model'", "agent.limits.x", "agent.modle")


def test_a_file_that_stands_in_the_way_is_not_overwritten(home: Home) -> None:
    home.config.write_text("agent = 3\n")
    with pytest.raises(SetupError, match="'agent' is in the file, but is not a table"):
        Config(home).set("agent.model", "x")
    assert home.config.read_text() == "agent = 3\n"


@pytest.mark.behaviour("config.afresh")
def test_a_change_counts_at_once_and_a_broken_file_leaves_what_was(home: Home) -> None:
    config = Config(home)
    home.config.write_text("[agent]\nmax_turns = 9\n")
    assert config.number(MAX_TURNS) == 9
    home.config.write_text("[agent")

    assert config.number(MAX_TURNS) == 9
    with pytest.raises(SetupError, match="cannot be read"):
        config.entries()
    with pytest.raises(SetupError, match="cannot be read"):
        config.set("agent.max_turns", "3")
    home.config.unlink()
    assert config.number(MAX_TURNS) == 50


def test_a_link_to_the_file_stays_a_link(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles.toml"
    elsewhere.write_text("# mine\n")
    home.config.symlink_to(elsewhere)

    Config(home).set("agent.model", "x")

    assert home.config.is_symlink()
    assert elsewhere.read_text() == '# mine\n\n[agent]\nmodel = "x"\n'


def test_without_a_folder_nothing_can_be_kept() -> None:
    config = Config()
    assert config.number(MAX_TURNS) == 50
    with pytest.raises(SetupError, match="no folder for settings"):
        config.set("agent.max_turns", "3")


def test_two_who_change_it_at_once_both_have_their_way(home: Home) -> None:
    """Each change is made to what the file says then, not to what was read before."""
    one, other = Config(home), Config(home)

    one.set("agent.max_turns", "3")
    other.set("agent.max_calls", "4")

    assert one.run_limits()[:2] == other.run_limits()[:2] == (3, 4)
