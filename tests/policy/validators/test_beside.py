"""Which paths outside the workspace agents may read, by the operator's rows."""

import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import RiskLevel, worst
from handrail.policy.rulebook.book import Rulebook, operator_rules, project_rules
from handrail.policy.rulebook.rules import Rules
from handrail.policy.validators.paths import PathValidator
from handrail.policy.validators.scripts import ScriptValidator
from handrail.tools.catalogue import judge

ROOT = "/home/ada/app"


def rules(*rows: str, project: str = "") -> Rules:
    text = "\n".join(f"[[folder]]\n{row}" for row in rows)
    return Rulebook(operator_rules(text, "policy.toml")).rules_for(project)


LIB = rules('path = "../lib"', 'path = "/srv/docs/api"')


@pytest.mark.parametrize(
    ("path", "opened"),
    [
        ("../lib/a.py", "/home/ada/lib/a.py"),
        ("../lib", "/home/ada/lib"),
        ("../lib/", "/home/ada/lib"),
        ("src/../../lib/./x/../a.py", "/home/ada/lib/a.py"),
        ("/home/ada/lib/a.py", "/home/ada/lib/a.py"),
        ("//home/ada/lib//a.py", "/home/ada/lib/a.py"),
        ("/srv/docs/api/index.md", "/srv/docs/api/index.md"),
        ("src/a.py", "src/a.py"),
        ("/home/ada/app/src/a.py", "src/a.py"),
        ("workspace/a.py", "a.py"),
    ],
)
def test_what_lies_in_such_a_folder_is_read(path: str, opened: str) -> None:
    paths = PathValidator(ROOT, LIB)

    assert paths.validate_reading(path) == []
    assert paths.resolve_reading(path) == opened


@pytest.mark.parametrize(
    "path",
    [
        "..", "../library/a", "../lib/../other/a", "/home/ada", "/srv/docs", "/srv/docs/api2/x",
        "/etc/passwd", "../../ada/app2/x", "~/lib/a", "../lib/.env", "/home/ada/lib/.ssh/id_rsa",
        "../lib/.handrail/policy.toml", "",
    ],
)  # fmt: skip
def test_nothing_else_is(path: str) -> None:
    assert worst(PathValidator(ROOT, LIB).validate_reading(path)) is RiskLevel.FORBIDDEN


def test_a_refusal_says_how_a_person_can_allow_it() -> None:
    [finding] = PathValidator(ROOT).validate_reading("../lib/a.py")

    assert "`handrail folders add`" in finding.reason


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("write_file", {"path": "../lib/a.py", "content": "x"}),
        ("edit_file", {"path": "../lib/a.py", "old": "x", "new": "y"}),
        ("delete_file", {"path": "/home/ada/lib/a.py"}),
        ("move_file", {"path": "a.py", "to": "../lib/a.py"}),
    ],
)
def test_no_tool_changes_what_is_in_it(tool: str, params: dict[str, str]) -> None:
    verdict = judge(tool, params, workspace=ROOT, policy=LIB)

    assert verdict.ruling == "deny"
    assert "lies in /home/ada/lib, which agents can read and not change" in verdict.reasons[0]


@pytest.mark.parametrize("tool", ["read_file", "list_directory", "search_code"])
def test_the_tools_that_read_do_so_without_asking(tool: str) -> None:
    params = {"path": "../lib/src"} | ({"pattern": "x"} if tool == "search_code" else {})
    verdict = judge(tool, params, workspace=ROOT, policy=LIB)

    assert (verdict.ruling, verdict.plan.paths) == ("allow", ("/home/ada/lib/src",))


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("cat ../lib/a.py", RiskLevel.LOW),
        ("rg -n Box ../lib/src /srv/docs/api", RiskLevel.LOW),
        ("diff -u a.py ../lib/a.py", RiskLevel.LOW),
        ("cat ../lib/.env", RiskLevel.FORBIDDEN),
        ("cat ../other/a.py", RiskLevel.HIGH),
        ("cp a.py ../lib/a.py", RiskLevel.HIGH),
        ("cd ../lib && ls", RiskLevel.HIGH),
        ("git -C ../lib log", RiskLevel.FORBIDDEN),
    ],
)
def test_commands_that_only_read_there_run_without_asking(line: str, risk: RiskLevel) -> None:
    assert worst(ScriptValidator(ROOT, LIB).validate_script(line)) is risk


@pytest.mark.parametrize(
    "row",
    [
        'path = "../app/src"', 'path = "/home/ada"', 'path = "../app"', 'path = "/home"',
        'path = "../../.."', 'path = "/tmp/build/x"',
        'path = "../lib"\nworkspaces = ["/home/ada/other"]',
    ],
)  # fmt: skip
def test_no_row_shows_the_workspace_too_much_or_another_ones_folders(row: str) -> None:
    assert rules(row).folders_beside(ROOT) == ()


def test_a_row_can_count_for_some_workspaces_only() -> None:
    row = f'path = "/home/ada/lib"\nworkspaces = ["{ROOT}/"]'

    assert rules(row).folders_beside(ROOT) == ("/home/ada/lib",)


def test_a_projects_rules_hold_there_too() -> None:
    project = (
        '[[path]]\nname = "plans"\naccess = "any"\nreason = "plans"\npatterns = ["plans/**"]\n'
        'match = ["plans/a.md"]\nnot_match = ["a.md"]'
    )
    tight = rules('path = "../lib"', project=project)

    assert PathValidator(ROOT, tight).validate_reading("../lib/a.md") == []
    assert PathValidator(ROOT, tight).validate_reading("../lib/plans/a.md") != []


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ('path = "lib"', "does not begin with / or ../"),
        ('path = "~/lib"', "does not begin with / or ../"),
        ('path = "/lib/x"\nworkspaces = ["app"]', "workspaces are absolute paths"),
        ("workspaces = []", "'path' is missing"),
        ('path = "/lib/x"\nwrite = true', "unknown key 'write'"),
    ],
)
def test_a_broken_row_is_refused_with_its_reason(row: str, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        rules(row)


def test_a_project_adds_no_folder() -> None:
    with pytest.raises(RuleError, match="said in the operator's file"):
        project_rules('[[folder]]\npath = "../lib"')
