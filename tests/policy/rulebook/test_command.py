"""Words that matter in a row of the command table, and how a command finds its row."""

import pytest

from handrail.core.risk import RiskLevel
from handrail.policy.rulebook.command import (
    CommandRule,
    CommandTable,
    WordReasons,
    replace_by_name,
)

WORDS = WordReasons(
    {
        "-o --output": "writes",
        "-z -exec": "runs",
        "drop *://* [A-Z]*=* /[*]": "is special",
        "- --": "stands alone",
    }
)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        pytest.param("-o", "writes", id="letter"),
        pytest.param("-no", "writes", id="letter-behind-another"),
        pytest.param("-ofile", "writes", id="letter-with-a-value"),
        pytest.param("-nz5", "runs", id="letter-in-the-middle"),
        pytest.param("-n", None, id="other-letter"),
        pytest.param("-O", None, id="letter-in-another-case"),
        pytest.param("o", None, id="no-flag"),
    ],
)
def test_a_letter_is_found_among_short_flags(word: str, reason: str | None) -> None:
    assert WORDS.find(word) == reason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        pytest.param("--output", "writes", id="whole"),
        pytest.param("--output=x", "writes", id="with-a-value"),
        pytest.param("--outp", "writes", id="abbreviated"),
        pytest.param("--o=x", "writes", id="abbreviated-with-a-value"),
        pytest.param("--output-format", None, id="longer"),
        pytest.param("--Output", None, id="another-case"),
        pytest.param("--other", None, id="other-flag"),
        pytest.param("-output", "writes", id="one-dash-is-a-cluster"),
    ],
)
def test_a_long_flag_is_found_by_its_abbreviations(word: str, reason: str | None) -> None:
    assert WORDS.find(word) == reason


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        pytest.param("-exec", "runs", id="flag-of-one-dash"),
        pytest.param("drop", "is special", id="word"),
        pytest.param("drops", None, id="longer-word"),
        pytest.param("https://x.example", "is special", id="wildcard"),
        pytest.param("PATH=x", "is special", id="wildcard-with-a-set"),
        pytest.param("path=x", None, id="wildcards-know-case"),
        pytest.param("/*", "is special", id="star-itself"),
        pytest.param("/x", None, id="no-star"),
        pytest.param("-", "stands alone", id="dash"),
        pytest.param("--", "stands alone", id="two-dashes"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_other_words_mean_themselves_or_are_wildcards(word: str, reason: str | None) -> None:
    assert WORDS.find(word) == reason


def test_two_dashes_abbreviate_nothing() -> None:
    assert WordReasons({"--output": "writes"}).find("--") is None
    assert WordReasons({"--output": "writes"}).find("--=x") is None


def test_words_without_reasons_are_false_and_equal_words_are_equal() -> None:
    assert not WordReasons({})
    assert WordReasons({"-o": "writes"}) == WordReasons({"-o": "writes"}) != WordReasons({})
    assert len({WordReasons({"-o": "x"}), WordReasons({"-o": "x"})}) == 1


def rule(*names: str, risk: RiskLevel = RiskLevel.LOW) -> CommandRule:
    return CommandRule(frozenset(names), risk)


GIT, LOG, STASH, STASH_LIST = (
    rule("git"),
    rule("git log"),
    rule("git stash"),
    rule("git stash list"),
)
VERSION, NPM, NPM_DEV = rule("git --version"), rule("npm"), rule("npm run dev")
TOOL, DISK = rule("tool-*"), rule("mkfs", "mkfs.*", risk=RiskLevel.FORBIDDEN)
TABLE = CommandTable([GIT, LOG, STASH, STASH_LIST, VERSION, NPM, NPM_DEV, TOOL, DISK, rule("ls")])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param("git", GIT, id="name"),
        pytest.param("git log -5", LOG, id="subcommand"),
        pytest.param("git stash", STASH, id="subcommand-alone"),
        pytest.param("git stash push", STASH, id="third-word-without-a-row"),
        pytest.param("git stash list -p", STASH_LIST, id="third-word"),
        pytest.param("git unknown", GIT, id="subcommand-without-a-row"),
        pytest.param("git --version", VERSION, id="flag-as-the-second-word"),
        pytest.param("npm run dev", NPM_DEV, id="third-word-of-another"),
        pytest.param("npm run build", NPM, id="other-third-word"),
        pytest.param("tool-9 x", TOOL, id="wildcard"),
        pytest.param("mkfs.ext4 x", DISK, id="wildcard-of-the-refused"),
    ],
)
def test_the_row_with_the_longest_name_is_found(line: str, found: CommandRule) -> None:
    name, *words = line.split()
    match = TABLE.find(name, words)
    assert match is not None
    assert match.rule is found


@pytest.mark.parametrize(
    ("line", "start"),
    [
        pytest.param("git log -5", 1, id="none"),
        pytest.param("git --no-pager log -5", 2, id="one"),
        pytest.param("git -a -b log", 3, id="two"),
    ],
)
def test_flags_may_stand_in_front_of_the_subcommand(line: str, start: int) -> None:
    name, *words = line.split()
    match = TABLE.find(name, words)
    assert match is not None
    assert (match.rule, match.base, match.start, match.subcommand) == (LOG, GIT, start, "log")
    assert words[match.subcommand_at] == "log"


@pytest.mark.parametrize("name", ["unknown", "LS", "tool", "Git"])
def test_a_name_without_a_row_finds_none(name: str) -> None:
    assert TABLE.find(name, ["log"]) is None


@pytest.mark.parametrize("name", ["MKFS", "Mkfs"])
def test_a_refused_name_is_found_in_any_case(name: str) -> None:
    match = TABLE.find(name, [])
    assert match is not None
    assert match.rule is DISK


def test_rows_tell_which_names_have_further_words() -> None:
    assert [TABLE.has_subcommands(name) for name in ("git", "git stash", "npm", "npm run")] == [
        *(True, True, True, True)
    ]
    assert not TABLE.has_subcommands("ls")
    assert not TABLE.has_subcommands("git log")


def test_a_row_takes_the_place_of_those_names_only_that_it_has() -> None:
    mine = rule("b", "d", risk=RiskLevel.HIGH)
    first, second, last = replace_by_name([rule("a", "b"), rule("c"), rule("d")], [mine])
    assert (first.names, second.names, last) == ({"a"}, {"c"}, mine)
