from importlib.resources import files
from itertools import product

import pytest

from handrail.core.errors import RuleError
from handrail.policy.rulebook.globs import fold
from handrail.policy.rulebook.paths import Access, PathRule
from handrail.policy.rulebook.rules import SHIPPED, Rules, default_rules

GOOD = {
    "name": '"diary"',
    "access": '"any"',
    "reason": '"diaries are private"',
    "patterns": '["diary", "*.diary", "notes/day?"]',
    "except": '["old.diary"]',
    "match": '["diary", "a/my.diary", "notes/day1/x"]',
    "not_match": '["diaries", "old.diary", "day1"]',
}


def rule_text(**changes: str | None) -> str:
    rows = {**GOOD, **changes}
    lines = [f"{key} = {value}" for key, value in rows.items() if value is not None]
    return "\n".join(["[[path]]", *lines])


def diary(**changes: str | None) -> PathRule:
    (rule,) = Rules.parse(rule_text(**changes), source="mine.toml").paths
    return rule


def test_shipped_rules_load_and_hold_their_own_examples() -> None:
    assert {(rule.name, str(rule.access)) for rule in default_rules().paths} == {
        ("private-key", "any"),
        ("dotenv", "any"),
        ("credential-store", "any"),
        ("credential-file", "any"),
        ("git-internals", "write"),
        ("git-secrets", "any"),
        ("handrail-own", "any"),
    }


def test_every_file_of_rules_is_loaded() -> None:
    folder = files("handrail.policy.rulebook").joinpath("defaults")
    assert {file.name for file in folder.iterdir()} == {*SHIPPED}


def test_every_shipped_rule_has_a_name_of_its_own_and_a_reason() -> None:
    rules = default_rules().paths
    assert len({rule.name for rule in rules}) == len(rules)
    assert all(rule.reason for rule in rules)


def test_shipped_rules_are_read_once() -> None:
    assert default_rules() is default_rules()


def test_file_without_rules_forbids_nothing() -> None:
    rules = Rules.parse("", source="empty.toml")
    assert not any((rules.paths, rules.writes, rules.commands, rules.tools, rules.ceilings))


def test_good_rule_is_read() -> None:
    rule = diary()
    assert (rule.name, rule.access, rule.reason) == ("diary", Access.ANY, "diaries are private")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[[paths]]\nname = 'x'",
            "mine.toml: unknown section 'paths'; known: path, write, command, tool, network,"
            " folder, http, policy",
        ),
        (
            rule_text(colour='"red"'),
            "mine.toml: path rule 'diary': unknown key 'colour'; known: name, access, reason, "
            "patterns, except, match, not_match",
        ),
        (rule_text(name=None), "mine.toml: path rule '?': 'name' is missing"),
        (rule_text(access=None), "mine.toml: path rule 'diary': 'access' is missing"),
        (rule_text(reason=None), "mine.toml: path rule 'diary': 'reason' is missing"),
        (rule_text(patterns=None), "mine.toml: path rule 'diary': 'patterns' is missing"),
        (
            rule_text(access='"sometimes"'),
            "mine.toml: path rule 'diary': access is one of any, write, not 'sometimes': "
            "'any' refuses every access, 'write' only changes",
        ),
        (
            rule_text(match=None),
            "mine.toml: path rule 'diary': needs examples, `match` and `not_match`",
        ),
        (
            rule_text(not_match=None),
            "mine.toml: path rule 'diary': needs examples, `match` and `not_match`",
        ),
        (
            rule_text(match="[]"),
            "mine.toml: path rule 'diary': needs examples, `match` and `not_match`",
        ),
        (
            rule_text(match='["diary", "letter"]'),
            "mine.toml: path rule 'diary': does not match its own example 'letter'",
        ),
        (
            rule_text(not_match='["letter", "a/diary/b"]'),
            "mine.toml: path rule 'diary': matches 'a/diary/b', which it says it does not",
        ),
    ],
    ids=[
        "unknown-section",
        "unknown-key",
        "no-name",
        "no-access",
        "no-reason",
        "no-patterns",
        "bad-access",
        "no-match",
        "no-not-match",
        "empty-match",
        "match-contradicts",
        "not-match-contradicts",
    ],
)
def test_broken_file_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        Rules.parse(text, source="mine.toml")
    assert caught.value.message == message


@pytest.mark.parametrize("path", ["/etc/**", "../x", "a/../x", "~/x", "./x", "x/"])
@pytest.mark.parametrize(("key", "what"), [("patterns", "patterns"), ("match", "an example")])
def test_what_no_path_of_a_workspace_can_be_is_refused(path: str, key: str, what: str) -> None:
    with pytest.raises(RuleError) as caught:
        diary(**{key: f'["diary", "{path}"]'})
    assert caught.value.message == (
        f"mine.toml: path rule 'diary': {what}: '{path}' matches nothing in a workspace; write "
        f"paths from its root, as 'docs/plans/**'; paths outside of it are refused in any case"
    )


def test_file_that_is_no_toml_is_refused() -> None:
    with pytest.raises(RuleError, match=r"^mine\.toml: not valid TOML: \S"):
        Rules.parse("[[path", source="mine.toml")


def test_one_broken_rule_refuses_the_whole_file() -> None:
    broken = rule_text(name="'letters'", match=None)
    with pytest.raises(RuleError, match="'letters'"):
        Rules.parse(f"{rule_text()}\n{broken}", source="mine.toml")


@pytest.mark.parametrize(
    ("path", "covered"),
    [
        ("diary", True),
        ("a/b/diary", True),
        ("diary/monday.txt", True),
        ("a/diary/monday.txt", True),
        ("my.diary", True),
        (".diary", True),
        ("DIARY", True),
        ("my-diary", False),
        ("diary2", False),
        ("my.diary.txt", False),
        ("old.diary", False),
        ("old.diary/diary", True),
        ("very-old.diary", True),
        ("notes/day1", True),
        ("a/notes/day2/x", True),
        ("notes/day12", False),
        ("notes/day", False),
        ("notes/a/day1", False),
        ("my/notes2/day1", False),
        ("", False),
        (".", False),
    ],
)
def test_pattern_is_held_against_whole_parts(path: str, covered: bool) -> None:
    assert diary().covers(path) is covered


@pytest.mark.parametrize("mark", [".", "+", "[x]", "(", "$", "^", "|", "{1}"])
def test_marks_of_regular_expressions_are_plain_text_in_a_pattern(mark: str) -> None:
    rule = diary(
        patterns=f"['a{mark}b']", match=f"['a{mark}b']", not_match="['axb', 'ab', 'a', 'b', 'aab']"
    )
    assert rule.covers(f"x/a{mark}b")


@pytest.mark.parametrize(
    ("spelt", "folded"),
    [
        ("README.md", "readme.md"),
        ("a/b.c/D", "a/b.c/d"),
        ("x.", "x"),
        ("x. . /y. ", "x/y"),
        ("x .y", "x .y"),
        ("..", ".."),
        ("../.", "../."),
        ("...", "..."),
        ("\uff21\uff22", "ab"),
        ("\u212a", "k"),
        ("x\u00a0", "x"),
        ("a\u200bb", "ab"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("caf\u0065\u0301", "caf\u00e9"),
    ],
    ids=ascii,
)
def test_names_taken_for_the_same_fold_to_one_spelling(spelt: str, folded: str) -> None:
    assert fold(spelt) == folded


@pytest.mark.parametrize(
    ("rule", "disguise"),
    [
        (rule, disguise)
        for rule, disguise in product(
            ["id_rsa", "a/.env", ".ssh/x", ".git/config", ".handrail/tokens"],
            ["upper", "full-width", "dot-behind", "blank-behind"],
        )
    ],
)
def test_no_disguise_gets_past_the_shipped_rules(rule: str, disguise: str) -> None:
    put_on = {
        "upper": str.upper(rule),
        "full-width": rule.translate({n: n + 0xFEE0 for n in range(ord("a"), ord("z") + 1)}),
        "dot-behind": rule.replace("/", "./") + ".",
        "blank-behind": rule.replace("/", " /") + " ",
    }
    disguised = put_on[disguise]
    assert disguised != rule
    assert any(one.covers(disguised) for one in default_rules().paths)


@pytest.mark.parametrize(
    "text",
    [
        "[path]\nname = 'x'",
        "path = 'x'",
        "[[path]]\nname='x'\naccess='any'\nreason='r'\npatterns=[1]\nmatch=['a']\nnot_match=['b']",
        "[[path]]\nname='x'\naccess='any'\nreason='r'\npatterns='ab'\nmatch=['a']\nnot_match=['c']",
    ],
    ids=["one table", "text", "number as pattern", "text as patterns"],
)
def test_a_file_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(RuleError, match=r"^mine\.toml: "):
        Rules.parse(text, source="mine.toml")
