import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.reading import FileWord, Reading
from handrail.policy.rulebook.rules import Rules, default_rules

HIGH, LOW, MEDIUM = RiskLevel.HIGH, RiskLevel.LOW, RiskLevel.MEDIUM

LOOK = """
[[command]]
name = "look"
risk = "low"
flags = ["-a", "-b", "--all", "-#"]
values = ["-n", "--number"]
paths = ["-p", "--place"]
text = "first"
instead = ["-n"]
operands = 3
raise = [
    { on = ["-w", "--write"], to = "high", reason = "writes a file" },
    { on = ["--burn*", "fire"], to = "forbidden", reason = "burns the house down" },
]
examples = { "look x" = "low" }
"""
BUILD = """
[[command]]
names = ["build", "build-*"]
risk = "medium"
reason = "builds the house"
flags = ["-v"]
other = "forbidden"
examples = { "build-9 -v wall" = "medium" }

[[command.sub]]
names = ["wall", "roof"]
risk = "medium"
reason = "lays stones"

[[command.sub]]
name = "plan"
risk = "low"
flags = ["-x"]
"""
DO = """
[[command]]
name = "do"
risk = "low"
flags = ["-q"]
values = ["-t"]
runs = 1
other = "forbidden"
examples = { "do 2 look x" = "low" }
"""
MOVE = """
[[command]]
name = "move"
risk = "medium"
reason = "moves furniture"
values = ["-m"]
writes = true
broad_on = ["-C", "--into", "attic"]
examples = { "move a b" = "medium" }
"""
HOUSE = LOOK + BUILD + DO + MOVE


def read(line: str, text: str = HOUSE) -> Reading:
    return read_line(Rules.parse(text, source="mine.toml").command_list, line.split())


def risk_of(line: str, text: str = HOUSE) -> RiskLevel:
    return worst(read(line, text).findings)


def files_of(line: str) -> list[str]:
    return [file.word for file in read(line).files]


def refusal_of(text: str) -> str:
    with pytest.raises(RuleError) as caught:
        Rules.parse(text, source="mine.toml")
    return caught.value.message


def test_shipped_rules_load_and_hold_their_own_examples() -> None:
    assert len(default_rules().commands) >= 50


def test_every_shipped_command_has_one_rule() -> None:
    names = [name for rule in default_rules().commands for name in rule.names]
    assert len(names) == len(set(names)) > 200


def test_everything_shipped_that_is_not_low_has_a_reason() -> None:
    rules = default_rules().commands
    rules += tuple(sub for rule in rules for sub in rule.subs)
    assert [rule.names for rule in rules if rule.risk > LOW and not rule.reason] == []
    assert [one for rule in rules for one in rule.raises if not one.reason] == []


def test_two_lines_are_enough_and_such_a_command_is_high() -> None:
    text = "[[command]]\nname = 'terraform'\nexamples = { 'terraform plan' = 'high' }"
    assert read("terraform apply", text).findings == (
        Finding(
            "command.terraform",
            "terraform is allowed, but no rule describes its risk",
            HIGH,
        ),
    )


def test_where_two_rules_know_a_command_the_stricter_one_counts() -> None:
    text = "[[command]]\nname = 'look'\nexamples = { 'look x' = 'high' }"
    rules = Rules.parse(LOOK, source="a") + Rules.parse(text, source="b")
    assert worst(read_line(rules.command_list, ["look", "x"]).findings) is HIGH
    assert worst(read_line(rules.command_list, ["look", "--burn"]).findings) is RiskLevel.FORBIDDEN


ROW = "[[command]]\nname = 'x'\n"
EXAMPLES = "examples = { 'x' = 'high' }\n"
KNOWN = (
    "known: name, names, risk, reason, raise, flags, optional, values, paths, named_values, "
    "named_paths, last, text, instead, plain, operands, beyond, script, script_flags, "
    "script_endings, obeys, obeys_in, free_with, runs, unseen, runs_after, replaces, "
    "runs_named, sub, other, strict, clusters, letters, leading, shortened, shared, scripts_with, "
    "looks_only, loads, runs_from, options_first, writes, suffixes, broad, punctuated, bundled, "
    "broad_on, profile, before, after, after_one"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ROW,
            "mine.toml: command rule 'x': needs `examples`, such as { 'tool --flag' = 'high' }",
        ),
        (
            f"{ROW}examples = {{}}",
            "mine.toml: command rule 'x': needs `examples`, such as { 'tool --flag' = 'high' }",
        ),
        (
            f"{ROW}examples = {{ 'x' = 'low' }}",
            "mine.toml: command rule 'x': says that 'x' is low, but it is high: x is allowed,"
            " but no rule describes its risk",
        ),
        (
            f"{ROW}examples = {{ 'y' = 'high' }}",
            "mine.toml: command rule 'x': example 'y' is not one of this command",
        ),
        (
            f"{ROW}examples = {{ '' = 'high' }}",
            "mine.toml: command rule 'x': example '' is not one of this command",
        ),
        (
            f"{ROW}examples = {{ \"x '\" = 'high' }}",
            "mine.toml: command rule 'x': example \"x '\": No closing quotation",
        ),
        (
            f"{ROW}examples = {{ 'x' = 'often' }}",
            "mine.toml: command rule 'x': 'often' is no risk; there are "
            "low, medium, high, critical, forbidden",
        ),
        (
            f"{ROW}{EXAMPLES}colour = 'red'",
            f"mine.toml: command rule 'x': unknown key 'colour'; {KNOWN}, examples, binds",
        ),
        (f"{ROW}{EXAMPLES}risk = 'medium'", "mine.toml: command rule 'x': 'reason' is missing"),
        (f"{ROW}{EXAMPLES}risk = 'forbidden'", "mine.toml: command rule 'x': 'reason' is missing"),
        (f"{ROW}{EXAMPLES}flags = 'a'", "mine.toml: command rule 'x': flags is a list of texts"),
        (
            f"{ROW}{EXAMPLES}runs = '1'",
            "mine.toml: command rule 'x': runs is of the wrong type, not int",
        ),
        (
            f"{ROW}{EXAMPLES}runs = true",
            "mine.toml: command rule 'x': runs is of the wrong type, not int",
        ),
        (
            f"{ROW}{EXAMPLES}broad = 1",
            "mine.toml: command rule 'x': broad is of the wrong type, not bool",
        ),
        (
            f"{ROW}{EXAMPLES}writes = 'yes'",
            "mine.toml: command rule 'x': writes is of the wrong type, not bool",
        ),
        (
            f"{ROW}{EXAMPLES}broad_on = '-r'",
            "mine.toml: command rule 'x': broad_on is a list of texts",
        ),
        (
            f"{ROW}{EXAMPLES}text = 'some'",
            "mine.toml: command rule 'x': 'some' is not a valid Text",
        ),
        (
            f"{ROW}{EXAMPLES}plain = '('",
            "mine.toml: command rule 'x': plain is no regular expression: "
            "missing ), unterminated subpattern at position 0",
        ),
        (
            f"{ROW}{EXAMPLES}profile = 'read'",
            "mine.toml: command rule 'x': what is high has the profile write or net, not 'read'",
        ),
        (
            f"{ROW}risk = 'low'\nprofile = 'net'\nexamples = {{ 'x' = 'low' }}",
            "mine.toml: command rule 'x': what is low has the profile read, not 'net'",
        ),
        (
            f"{ROW}{EXAMPLES}profile = 'none'",
            "mine.toml: command rule 'x': what is high has the profile write or net, not 'none'",
        ),
        (
            f"{ROW}{EXAMPLES}before = '-a'",
            "mine.toml: command rule 'x': before is a list of texts",
        ),
        (
            f"{ROW}{EXAMPLES}runs = 0\nafter = ['-a']",
            "mine.toml: command rule 'x': with runs, words at the end are another program's; "
            "use `before`",
        ),
        (
            f"{ROW}{EXAMPLES}raise = [{{ on = ['-a'], to = 'high' }}]",
            "mine.toml: command rule 'x': raise rule '?': 'reason' is missing",
        ),
        (
            f"{ROW}{EXAMPLES}[[command.sub]]\nrisk = 'low'",
            "mine.toml: command rule 'x': sub rule '?': needs a 'name', or 'names'",
        ),
        (
            f"{ROW}{EXAMPLES}[[command.sub]]\nname = 'y'\n{EXAMPLES}",
            "mine.toml: command rule 'x': sub rule 'y': examples stand with the command itself, in"
            " its [[command]]",
        ),
        (
            f"{ROW}{EXAMPLES}resk = 'low'",
            "mine.toml: command rule 'x': unknown key 'resk'; did you mean risk?",
        ),
        (
            f"{ROW}{EXAMPLES}sub = {{ name = 'y' }}",
            "mine.toml: command rule 'x': sub rules are written as [[command.sub]]",
        ),
        (
            f"{ROW}{EXAMPLES}[[command.sub]]\nname = 'y'\nsub = {{ name = 'z' }}",
            "mine.toml: command rule 'x': sub rule 'y': sub rules are written as"
            " [[command.sub.sub]]",
        ),
        (
            f"{ROW}{EXAMPLES}{ROW}{EXAMPLES}",
            "mine.toml: command rule 'x': x has a [[command]] in this file already; make them one",
        ),
        (
            f"{ROW}{EXAMPLES}script = true",
            "mine.toml: command rule 'x': needs `binds`, such as { 'tool x.py' = ['x.py'] }",
        ),
        (
            f"{ROW}{EXAMPLES}script = true\nbinds = {{ 'x a b' = ['b'] }}",
            "mine.toml: command rule 'x': says that 'x a b' runs ['b'], but it is ['a']",
        ),
        (
            f"{ROW}{EXAMPLES}script = true\nbinds = {{ 'x a' = 'a' }}",
            "mine.toml: command rule 'x': x a is a list of texts",
        ),
        (f"[[command]]\n{EXAMPLES}", "mine.toml: command rule '?': needs a 'name', or 'names'"),
        ("[command]\nname = 'x'", "mine.toml: command rules are written as [[command]]"),
    ],
)
def test_broken_file_is_refused_with_its_place(text: str, message: str) -> None:
    assert refusal_of(text) == message


def test_example_may_name_another_command_of_its_file() -> None:
    assert "do 2 look x" in DO
    assert "says that 'do 2 look x' is low, but it is forbidden: " in refusal_of(DO)


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("look", LOW),
        ("look -a -b --all x", LOW),
        ("look -ab x", LOW),
        ("look -12 x", LOW),
        ("look -c x", HIGH),
        ("look -ac x", HIGH),
        ("look --al x", HIGH),
        ("look --all=x y", LOW),
        ("look -n -c", LOW),
        ("look -n-c", LOW),
        ("look -an -c", LOW),
        ("look --number -c", LOW),
        ("look --number=-c x", LOW),
        ("look x -w", HIGH),
        ("look -aw x", HIGH),
        ("look --wr=x y", HIGH),
        ("look -- -c", LOW),
        ("look -- -w", HIGH),
        ("look x --burning", RiskLevel.FORBIDDEN),
        ("look x fire", RiskLevel.FORBIDDEN),
        ("look a b c", LOW),
        ("look a b c d", HIGH),
    ],
)
def test_flags_of_a_low_command_are_read_strictly(line: str, risk: RiskLevel) -> None:
    assert risk_of(line) is risk


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("look pattern a b", ["a", "b"]),
        ("look -n pattern a b", ["a", "b"]),
        ("look a -n pattern b", ["a", "b"]),
        ("look -p place pattern a", ["place", "a"]),
        ("look -pplace pattern a", ["place", "a"]),
        ("look -ap place pattern", ["place"]),
        ("look --place=x pattern", ["x"]),
        ("look -p", [""]),
        ("look -c value a", ["value", "a"]),
        ("look -cvalue a", ["value", "alue", "ue", "e", "a"]),
        ("look -c./x a", ["./x", "a"]),
        ("look --odd=value a", ["value", "a"]),
        ("look --number= pattern a", ["a"]),
        ("look -- -a b", ["b"]),
        ("look - a", ["a"]),
        ("look -cn/x a", ["n/x", "a"]),
        ("move -q a", ["a"]),
        ("move -qt/x a", ["t/x", "/x", "a"]),
        ("move -qvt.x a", ["vt.x", "t.x", ".x", "a"]),
        ("move -t/x a", ["/x", "a"]),
        ("move -qm/x a", ["m/x", "a"]),
        ("move -m/x a", ["a"]),
        ("move --to=x a", ["x", "a"]),
    ],
)
def test_words_that_may_name_files_are_found(line: str, files: list[str]) -> None:
    assert files_of(line) == files


def test_file_of_a_command_that_does_more_than_look_may_be_written() -> None:
    assert read("look x a").files == (FileWord("a", written=False),)
    assert read("look -w x a").files == (FileWord("x", written=True), FileWord("a", written=True))
    assert read("build wall a").files == (FileWord("a", written=True),)
    assert read("move a").files == (FileWord("a", written=True, by_kind=True),)


@pytest.mark.parametrize(
    ("line", "risk", "kind"),
    [
        ("build", MEDIUM, None),
        ("build wall", MEDIUM, ("build", "wall")),
        ("build -v roof x", MEDIUM, ("build", "roof")),
        ("build-2.0 roof", MEDIUM, ("build-2.0", "roof")),
        ("build plan", LOW, ("build", "plan")),
        ("build plan -x", LOW, ("build", "plan")),
        ("build plan -y", HIGH, ("build", "plan")),
        ("build cellar", RiskLevel.FORBIDDEN, None),
        ("build -x wall", RiskLevel.FORBIDDEN, ("build", "wall")),
        ("look x", LOW, ("look",)),
        ("do 2 look x", LOW, None),
        ("./look x", MEDIUM, None),
    ],
)
def test_subcommand_is_judged_by_its_own_rule(
    line: str, risk: RiskLevel, kind: tuple[str, ...] | None
) -> None:
    reading = read(line)
    assert (worst(reading.findings), reading.kind) == (risk, kind)


@pytest.mark.parametrize(
    "line",
    [
        "move a -C b",
        "move -qC b",
        "move -- -C",
        "move --into=b a",
        "move --in b a",
        "move attic",
        "move https://example.com/a",
        "move git+ssh://example.com/a",
        "move --to=https://example.com/a b",
        "move ada@example.com:a",
        "move github:ada/a",
    ],
)
def test_no_kind_is_told_with_words_that_make_it_too_wide(line: str) -> None:
    assert read("move a --on b").kind == ("move",)
    assert read(line).kind is None


def test_address_in_a_text_leaves_the_kind_as_it_is() -> None:
    assert read("look https://example.com a").kind == ("look",)
    assert read("move -m https://example.com a").kind == ("move",)


@pytest.mark.parametrize("line", ["move -{} a", "look -{} x", "move -- -{}", "move -{}t/x a"])
def test_more_flags_in_one_word_than_anybody_writes_are_refused(line: str) -> None:
    assert risk_of(line.format("q" * 33)) is RiskLevel.FORBIDDEN
    assert risk_of(line.format("q" * 20)) < RiskLevel.FORBIDDEN


def test_flag_that_nobody_listed_matters_where_it_could_hide_a_text() -> None:
    text = """
[[command]]
name = "act"
risk = "medium"
reason = "acts"
text = "first"
plain = "[a-z]*"
examples = { "act well" = "medium", "act WELL" = "high", "act -x WELL" = "high" }
"""
    assert risk_of("act -x well", text) is HIGH


def test_very_long_text_is_never_plain() -> None:
    text = LOOK.replace('text = "first"', 'text = "first"\nplain = ".*"')
    assert risk_of(f"look {'x' * 4_000}", text) is LOW
    assert risk_of(f"look {'x' * 4_001}", text) is HIGH


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("do", LOW),
        ("do 2", LOW),
        ("do 2 look x", LOW),
        ("do -q -t 5 2 look x", LOW),
        ("do 2 look -w x", HIGH),
        ("do 2 build wall", MEDIUM),
        ("do 2 do 3 look -w x", HIGH),
        ("do 2 dance", RiskLevel.FORBIDDEN),
        ("do -x 2 look x", RiskLevel.FORBIDDEN),
        ("do 2 (look) x", RiskLevel.FORBIDDEN),
        ("do 1 do 1 do 1 do 1 look x", LOW),
        ("do 1 do 1 do 1 do 1 do 1 look x", RiskLevel.FORBIDDEN),
    ],
)
def test_command_that_runs_another_is_judged_by_that(line: str, risk: RiskLevel) -> None:
    assert risk_of(line) is risk


def test_words_of_the_inner_command_are_its_own() -> None:
    assert files_of("do -t 5 2 look x a b") == ["2", "a", "b"]
    assert [found.reason for found in read("do 2 look -w x").findings] == ["look -w writes a file"]


def test_very_long_words_are_cut_in_reasons() -> None:
    (finding,) = read(f"look --{'x' * 5_000} y").findings
    assert len(finding.reason) < 150
