"""What runs is what was asked for, with the words that Handrail adds, in the box that it needs."""

import pytest

from handrail.core.box import Profile
from handrail.core.risk import worst
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.reading import Reading
from handrail.policy.rulebook.rules import Rules

READ, WRITE, NET = Profile.READ, Profile.WRITE, Profile.NET

HOUSE = """
[[command]]
name = "look"
risk = "low"
flags = ["-a"]
optional = ["-c", "--colour"]
values = ["-n"]
named_values = ["--set"]
named_paths = ["--load"]
text = "first"
operands = 2
beyond = "is painted over"
free_with = ["--list"]
before = ["--calmly"]
raise = [{ on = ["-w"], to = "high", reason = "writes" }]
examples = { "look x" = "low", "look a b c" = "high" }

[[command]]
name = "pack"
risk = "high"
after = ["--gently", "--twice"]
examples = { "pack a" = "high" }

[[command]]
name = "do"
risk = "low"
runs = 1
other = "forbidden"
examples = { "do 2 look x" = "low" }

[[command]]
name = "seek"
risk = "low"
clusters = false
runs_after = ["-run"]
raise = [{ on = ["-run"], to = "medium", reason = "runs" }]
examples = { "seek . -run look x {} ;" = "high" }

[[command]]
name = "act"
risk = "medium"
reason = "acts"
options_first = true
values = ["-m"]
runs_named = ["-m"]
examples = { "act -m pack a" = "high" }

[[command]]
name = "shop"
risk = "medium"
reason = "buys"
examples = { "shop list" = "low" }

[[command.sub]]
name = "list"
risk = "low"
before = ["--plain"]

[[command.sub]]
name = "buy"
risk = "medium"
reason = "buys"
profile = "net"
strict = true
flags = ["-q"]
other = "forbidden"
after = ["--no-bags"]
"""
LISTED = Rules.parse(HOUSE, source="mine.toml").command_list


def read(line: str) -> Reading:
    return read_line(LISTED, line.split())


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("look x y", "look --calmly x y"),
        ("look", "look --calmly"),
        ("look -- x", "look --calmly -- x"),
        ("pack a b", "pack a b --gently --twice"),
        ("pack", "pack --gently --twice"),
        ("pack a -- b", "pack a --gently --twice -- b"),
        ("pack a -t", "pack a -t --gently --twice --gently --twice"),
        ("pack a --to -- b", "pack a --to --gently --twice --gently --twice -- b"),
        ("do 2 look x", "do 2 look --calmly x"),
        ("do 1 do 2 look x", "do 1 do 2 look --calmly x"),
        ("do 2 pack a", "do 2 pack a --gently --twice"),
        ("seek . -run look x {} ;", "seek . -run look --calmly x {} ;"),
        ("seek . -run pack {} + -b", "seek . -run pack --gently --twice {} + -b"),
        (
            "seek . -run look x ; -run do 3 look y ;",
            "seek . -run look --calmly x ; -run do 3 look --calmly y ;",
        ),
        ("seek . -run look x", "seek . -run look --calmly x"),
        ("act -m look x", "act -m look --calmly x"),
        ("act -mlook x", "act -mlook --calmly x"),
        ("act -m play look x", "act -m play look x"),
        ("act -m", "act -m"),
        ("shop list a", "shop list --plain a"),
        ("shop -q list a", "shop -q list --plain a"),
        ("shop buy a", "shop buy a --no-bags"),
        ("./look x", "./look x"),
        ("do 2 ./look x", "do 2 ./look x"),
        ("elsewhere x", "elsewhere x"),
    ],
)
def test_words_of_our_own_go_where_their_command_is(line: str, argv: str) -> None:
    assert " ".join(read(line).argv) == argv


def test_what_two_rules_add_is_added_once() -> None:
    twice = Rules.parse(HOUSE, source="a") + Rules.parse(HOUSE, source="b")
    assert read_line(twice.command_list, ["look", "x"]).argv == ("look", "--calmly", "x")


@pytest.mark.parametrize(
    ("line", "profile"),
    [
        ("look x", READ),
        ("look -w x", WRITE),
        ("look --unknown x", WRITE),
        ("pack a", WRITE),
        ("do 2 look x", READ),
        ("do 2 look -w x", WRITE),
        ("do 2 shop buy a", NET),
        ("seek .", READ),
        ("seek . -run look x ;", WRITE),
        ("act -m shop buy x", WRITE),
        ("act -m play shop buy x", WRITE),
        ("shop", WRITE),
        ("shop list", READ),
        ("shop buy a", NET),
        ("./look x", WRITE),
        ("./shop buy a", NET),
    ],
)
def test_box_is_as_wide_as_the_widest_part_needs(line: str, profile: Profile) -> None:
    assert read(line).profile is profile


@pytest.mark.parametrize(
    ("line", "risk", "files"),
    [
        ("look -c x a", "LOW", ["a"]),
        ("look -cx/y x a", "LOW", ["a"]),
        ("look -ac9 x a", "LOW", ["a"]),
        ("look --colour x a", "LOW", ["a"]),
        ("look --colour=/x x a", "LOW", ["a"]),
        ("look --set name /x y a", "LOW", ["a"]),
        ("look --set name", "LOW", []),
        ("look --load name f y a", "LOW", ["f", "a"]),
        ("look --set -w -w y", "LOW", []),
        ("look x a b", "HIGH", ["a", "b"]),
        ("look --list x a b", "HIGH", ["x", "a", "b"]),
    ],
)
def test_values_are_found_where_a_flag_takes_them(line: str, risk: str, files: list[str]) -> None:
    reading = read(line)
    assert (worst(reading.findings).name, [file.word for file in reading.files]) == (risk, files)


def test_name_that_is_a_commands_is_judged_as_that_command() -> None:
    assert worst(read("act -m pack a").findings).name == "HIGH"
    assert worst(read("act -m look x a").findings).name == "MEDIUM"
    assert [file.word for file in read("act -m look x a").files] == ["a"]
    assert [file.word for file in read("act -m play x a").files] == ["x", "a"]


def test_operand_beyond_the_last_is_told_by_its_own_reason() -> None:
    assert [finding.reason for finding in read("look a b c").findings] == ["look c is painted over"]


def test_flag_with_which_there_may_be_any_number_of_operands() -> None:
    text = HOUSE.replace('flags = ["-a"]', 'flags = ["-a", "--list"]')
    listed = Rules.parse(text, source="mine.toml").command_list
    assert read_line(listed, ["look", "--list", "a", "b", "c", "d"]).findings == ()


def test_flag_that_nobody_listed_counts_where_a_rule_is_strict() -> None:
    assert worst(read("shop buy -q a").findings).name == "MEDIUM"
    assert worst(read("shop buy --quickly a").findings).name == "FORBIDDEN"
    assert worst(read("pack --quickly a").findings).name == "HIGH"
