"""Three layers: the operator's may loosen and tighten, a project's can only tighten."""

import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import Layer, RiskLevel
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.rulebook.book import PROJECT_FILE, Rulebook, operator_rules, project_rules
from handrail.policy.rulebook.globs import any_part
from handrail.policy.rulebook.rules import default_rules
from handrail.tools.catalogue import judge

EXE = """
[[write]]
name = "binary"
risk = "high"
reason = "programs are looked at twice"
patterns = ["*.exe"]
match = ["a.exe"]
not_match = ["a.md"]
"""
DOCS = """
[[path]]
name = "docs"
access = "any"
reason = "the plans stay with people"
patterns = ["docs/**"]
match = ["docs/a.md", "docs/deep/b.md"]
not_match = ["docs", "src/docs.py"]
"""


def command(name: str, *lines: str, **examples: str) -> str:
    told = ", ".join(f"'{line.replace('_', ' ')}' = '{level}'" for line, level in examples.items())
    return "\n".join(["[[command]]", f"name = '{name}'", *lines, f"examples = {{ {told} }}"])


def book(operator: str = "") -> Rulebook:
    return Rulebook(operator_rules(operator, "/home/ada/.handrail/policy.toml"))


def run(line: str, operator: str = "", project: str = "", autonomy: str = "supervised") -> Verdict:
    name, *args = line.split()
    return judge(
        "execute_command",
        {"command": name, "args": args},
        workspace="/w",
        autonomy=autonomy,
        policy=book(operator).rules_for(project),
    )


def write(path: str, operator: str = "", project: str = "", autonomy: str = "full") -> Verdict:
    return judge(
        "write_file",
        {"path": path, "content": "x"},
        workspace="/w",
        autonomy=autonomy,
        policy=book(operator).rules_for(project),
    )


# The operator's file


def test_a_command_that_the_operator_adds_without_saying_more_is_high() -> None:
    verdict = run("terraform plan", command("terraform", terraform_plan="high"))

    assert (verdict.ruling, verdict.risk) == (Ruling.REHEARSE, RiskLevel.HIGH)
    (finding,) = verdict.findings
    assert (finding.rule, finding.layer) == ("command.terraform", Layer.OPERATOR)
    assert finding.reason.endswith("(operator rule command.terraform)")


def test_a_row_of_the_operator_replaces_the_shipped_one_of_that_name() -> None:
    assert write("a.exe").risk is RiskLevel.FORBIDDEN
    verdict = write("a.exe", EXE)
    assert (verdict.ruling, verdict.risk) == (Ruling.ASK, RiskLevel.HIGH)
    assert verdict.reasons == (
        "'a.exe': programs are looked at twice (operator rule write.binary)",
    )
    # What the shipped row knew besides is of an unknown kind now.
    assert write("a.dll", EXE).reasons[0].startswith("'a.dll' has an unknown file type")


def test_a_row_for_one_of_several_names_leaves_the_others_as_they_are() -> None:
    loose = command("wget", "risk = 'medium'", "reason = 'fetches'", wget_x="medium")

    assert run("wget x", loose).risk is RiskLevel.MEDIUM
    assert run("curl x", loose).risk is RiskLevel.FORBIDDEN


def test_a_pattern_of_the_operator_lifts_nothing_that_is_forbidden() -> None:
    assert run("sudo ls", command("*", anything="high")).risk is RiskLevel.FORBIDDEN
    assert run("anything", command("*", anything="high")).risk is RiskLevel.HIGH


def test_a_row_of_the_operator_lifts_a_pattern_for_its_own_name_only() -> None:
    loose = command("mkfs.mine", mkfs_mine="high").replace("mkfs mine", "mkfs.mine x")

    assert run("mkfs.mine x", loose).risk is RiskLevel.HIGH
    assert run("mkfs.ext4 x", loose).risk is RiskLevel.FORBIDDEN


def test_examples_of_the_operator_are_judged_as_calls_will_be() -> None:
    with pytest.raises(RuleError) as caught:
        book(command("often", "runs = { operands = 0 }", often_sudo_x="high"))
    assert caught.value.message == (
        "/home/ada/.handrail/policy.toml: command rule 'often': says that 'often sudo x' is high, "
        "but it is forbidden: Command not allowed: sudo takes more rights than the agent was given"
    )


def test_the_protection_of_handrails_own_files_cannot_be_replaced() -> None:
    text = DOCS.replace('"docs"\n', '"handrail-own"\n', 1)
    with pytest.raises(RuleError, match="protects Handrail's own files and stays as it is"):
        book(text)
    # A project's row of that name stands beside it.
    policy = book().rules_for(text)
    verdict = judge("read_file", {"path": ".handrail/policy.toml"}, workspace="/w", policy=policy)
    assert verdict.ruling is Ruling.DENY


@pytest.mark.behaviour("command.unlisted")
@pytest.mark.parametrize("operator", ["", "[policy]\nunlisted = 'ask'"])
def test_commands_without_a_row_are_rehearsed(operator: str) -> None:
    verdict = run("frobnicate x", operator)
    assert (verdict.ruling, verdict.risk) == (Ruling.REHEARSE, RiskLevel.HIGH)
    assert verdict.reasons == ("frobnicate is not a command Handrail knows",)
    assert run("env frobnicate x", operator).risk is RiskLevel.HIGH
    assert run("sudo frobnicate", operator).risk is RiskLevel.FORBIDDEN
    assert run("frobnicate /etc/passwd", operator).risk is RiskLevel.HIGH
    assert run("frobnicate .env", operator).risk is RiskLevel.FORBIDDEN


@pytest.mark.behaviour("command.unlisted")
def test_commands_without_a_row_are_refused_where_the_operator_says_so() -> None:
    refuses = "[policy]\nunlisted = 'refuse'"

    assert run("frobnicate x", refuses).ruling is Ruling.DENY
    assert run("env frobnicate x", refuses).ruling is Ruling.DENY
    assert run("ls", refuses).ruling is Ruling.ALLOW
    own = command("frobnicate", frobnicate_x="high")
    assert run("frobnicate x", f"{refuses}\n{own}").risk is RiskLevel.HIGH


def test_other_rules_of_the_operator_count_from_the_next_call_on() -> None:
    rulebook = book()
    before = rulebook.rules_for(DOCS)

    rulebook.exchange(operator_rules(command("terraform", terraform_plan="high"), "policy.toml"))

    assert before is not rulebook.rules_for(DOCS)
    assert "terraform" in {
        name for rule in rulebook.rules_for(DOCS).commands for name in rule.names
    }
    assert rulebook.rules_for(DOCS) is rulebook.rules_for(DOCS)


# A project's file


def test_a_project_refuses_a_folder_and_is_named_for_it() -> None:
    policy = book().rules_for(DOCS)
    verdict = judge("read_file", {"path": "docs/a.md"}, workspace="/w", policy=policy)

    (finding,) = verdict.findings
    assert verdict.ruling is Ruling.DENY
    assert (finding.rule, finding.layer) == ("path.docs", Layer.PROJECT)
    assert finding.reason == (
        "'docs/a.md' is refused: the plans stay with people (project rule path.docs)"
    )
    assert run("cat docs/a.md", project=DOCS).ruling is Ruling.DENY


def test_a_project_raises_a_command_also_where_another_runs_it() -> None:
    strict = command("npm", "risk = 'critical'", "reason = 'is not used here'", npm_ci="critical")

    for line in ("npm ci", "env npm ci", "find . -exec npm ci ;", "./node_modules/.bin/npm ci"):
        assert run(line, project=strict).risk is RiskLevel.CRITICAL, line


def test_a_project_that_raises_a_command_does_not_misread_its_words() -> None:
    strict = command("grep", "risk = 'high'", "reason = 'is looked at'", grep_x="high")

    assert run("grep /etc/.*;x src", project=strict).risk is RiskLevel.HIGH


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("sudo ls", command("sudo", "risk = 'low'", sudo_ls="low")),
        ("git push -f", command("git", "risk = 'low'", git_push="low")),
        ("frobnicate", "[policy]\nunlisted = 'ask'"),
    ],
)
def test_a_project_makes_nothing_run_that_would_not(line: str, row: str) -> None:
    refuses = "[policy]\nunlisted = 'refuse'"
    assert run(line, refuses, row).ruling is Ruling.DENY
    assert run("rm a", project=command("rm", "risk = 'low'", rm_x="low")).risk is RiskLevel.HIGH


def test_a_project_makes_no_kind_of_file_known() -> None:
    known = EXE.replace("*.exe", "*.xyz").replace("a.exe", "a.xyz").replace("high", "medium")

    assert write("a.xyz", project=known).risk is RiskLevel.HIGH
    assert write("a.exe", project=EXE).risk is RiskLevel.FORBIDDEN


def test_a_project_refuses_unlisted_commands_that_the_operator_lets_ask() -> None:
    asks, refuses = "[policy]\nunlisted = 'ask'", "[policy]\nunlisted = 'refuse'"

    assert run("frobnicate", asks, refuses).ruling is Ruling.DENY
    assert run("frobnicate", refuses, asks).ruling is Ruling.DENY


def test_autonomy_is_the_least_that_anybody_gives_and_the_reason_says_who() -> None:
    supervised, read_only = "[policy]\nautonomy='supervised'", "[policy]\nautonomy='read_only'"

    assert write("a.md").ruling is Ruling.ALLOW
    asked = write("a.md", supervised)
    assert (asked.ruling, asked.risk, asked.timeout_seconds) == (Ruling.ASK, RiskLevel.MEDIUM, 300)
    assert asked.reasons[-1] == (
        "autonomy is at most supervised here (operator rule policy.autonomy)"
    )
    denied = write("a.md", supervised, read_only)
    assert denied.ruling is Ruling.DENY
    assert denied.reasons[-1] == (
        "autonomy is at most read_only here (project rule policy.autonomy)"
    )
    assert write("a.md", read_only, "[policy]\nautonomy='full'").ruling is Ruling.DENY


def test_a_ceiling_that_makes_no_difference_is_no_reason() -> None:
    policy = book().rules_for("[policy]\nautonomy = 'read_only'")
    assert judge("read_file", {"path": "a"}, workspace="/w", policy=policy).reasons == ()


def test_a_whole_tool_can_be_raised_or_forbidden() -> None:
    raised = "[[tool]]\nname = 'write_file'\nrisk = 'high'\nreason = 'writes are looked at twice'"
    forbidden = raised.replace("high", "forbidden").replace("write_file", "write_*")

    assert write("a.md", project=raised).reasons == (
        "write_file: writes are looked at twice (project rule tool.write_file)",
    )
    assert write("a.md", project=raised).risk is RiskLevel.HIGH
    assert write("a.md", forbidden).ruling is Ruling.DENY
    assert run("ls", forbidden).ruling is Ruling.ALLOW


def test_a_text_that_cannot_be_read_any_more_forbids_everything() -> None:
    verdict = judge(
        "read_file", {"path": "a.md"}, workspace="/w", policy=book().rules_for("[new]\nx = 1")
    )
    assert verdict.ruling is Ruling.DENY
    assert "the project's policy cannot be read, so nothing is allowed" in verdict.reasons[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("policy = 1", "settings are written as one table, [policy]"),
        ("[policy]\nmood = 1", "[policy]: unknown key 'mood'; known: unlisted, autonomy, commands"),
        (
            "[policy]\npacks = ['go']",
            "[policy]: delete `packs`; the commands of all toolchains are known now",
        ),
        ("[policy]\nunlisted = 1", "[policy]: unlisted is one of refuse, ask, not 1"),
        (
            "[policy]\nautonomy = 'wild'",
            "[policy]: autonomy is one of read_only, draft, supervised, full, not 'wild'",
        ),
        ("[tool]\nname = 'x'", "tool rules are written as [[tool]]"),
        (
            "[[tool]]\nname = 'x'\nreason = 'y'\nrisk = 'low'",
            "tool rule 'x': risk is one of medium, high, critical, forbidden, not 'low'",
        ),
        ("[[tool]]\nname = 'x'\nrisk = 'high'", "tool rule 'x': 'reason' is missing"),
        (
            "[[tool]]\nname = 'x'\nwhy = 'y'",
            "tool rule 'x': unknown key 'why'; known: name, risk, reason",
        ),
        (
            DOCS.replace("docs/**", "a/**/b/**/c"),
            "path rule 'docs': patterns: 'a/**/b/**/c' has more than one '**/'; one is enough",
        ),
        (
            command("x", "needs = 'network'", x="high"),
            "command rule 'x': needs is for the operator's file; leave it out",
        ),
        (
            command("x", "runs = 0", x="high"),
            "command rule 'x': runs is for the operator's file; leave it out",
        ),
    ],
)
def test_what_a_file_may_not_say_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        project_rules(text)
    assert caught.value.message == f"{PROJECT_FILE}: {message}"


def test_brackets_without_end_are_refused_and_break_nothing() -> None:
    with pytest.raises(RuleError, match="not valid TOML"):
        project_rules("x = " + "[" * 100_000)


@pytest.mark.timeout(20)
def test_no_pattern_takes_long_on_a_name_made_for_it() -> None:
    matcher = any_part(["*a*a*a*a*a*a*a*a*b"])
    assert matcher.search("a" * 4_000) is None
    assert matcher.search("x/" + "a" * 4_000 + "b") is not None


def test_shipped_rules_are_unchanged_where_nobody_says_more() -> None:
    rules, shipped = book().rules_for(""), default_rules()
    assert rules.commands == shipped.commands
    assert rules.paths == shipped.paths
    assert rules.writes == shipped.writes
    assert rules.networks == shipped.networks
    assert (rules.tools, rules.web, rules.ceilings) == (shipped.tools, shipped.web, ())
    assert not rules.further_commands
    assert not rules.further_writes
