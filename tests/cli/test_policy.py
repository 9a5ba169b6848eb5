"""`handrail policy` shows the rules of a folder, and checks files."""

import json

from tests.cli.conftest import Shell, ended_well, refused

TERRAFORM = "[[command]]\nname = 'terraform'\nexamples = { 'terraform plan' = 'high' }\n"
STRICT = """
[policy]
autonomy = "read_only"
unlisted = "ask"

[[tool]]
name = "write_file"
risk = "high"
reason = "writes are looked at twice"
"""


def lay_down(shell: Shell, operator: str, project: str) -> None:
    (shell.workspace / ".handrail").mkdir()
    (shell.workspace / ".handrail" / "policy.toml").write_text(project)
    shell.home.mkdir()
    (shell.home / "policy.toml").write_text(operator)


def test_the_layers_are_shown_with_their_files(shell: Shell) -> None:
    lay_down(shell, TERRAFORM, STRICT)

    shown, listed = map(ended_well, shell.run_all("policy show", "policy show --json"))

    lines = [line.rstrip() for line in shown.splitlines()]
    assert lines[0].startswith("shipped  shipped with Handrail: 7 path, ")
    assert "  npm, pnpm, yarn may reach what `npm config get registry` names" in lines
    assert f"operator  {shell.home}/policy.toml: 1 command" in lines
    assert f"project  {shell.workspace}/.handrail/policy.toml: 1 tool" in lines
    assert "  autonomy = read_only" in lines
    assert "  unlisted = ask has no effect: a project's file can only tighten" in lines
    assert "writes are looked at twice" in lines[-1]
    shipped, operator, project = json.loads(listed)["layers"]
    assert (shipped["layer"], len(shipped["rules"]) > 70) == ("shipped", True)
    assert operator["rules"][0]["name"] == "terraform"
    assert (project["autonomy"], project["counts"]) == ("read_only", {"tool": 1})


def test_explain_goes_by_the_files_of_its_folder(shell: Shell) -> None:
    lay_down(shell, TERRAFORM, STRICT)

    asked, denied, program = map(
        ended_well,
        shell.run_all(
            "explain --autonomy full -- terraform plan",
            "explain write_file path=a.md content=x",
            "explain write_file path=a.md content=x --json",
        ),
    )

    assert asked.splitlines()[0] == "deny: refused, risk HIGH"
    assert denied.splitlines() == [
        "deny: refused, risk HIGH",
        "  write_file: writes are looked at twice (project rule tool.write_file)",
        "  autonomy is at most read_only here (project rule policy.autonomy)",
    ]
    found = [(one["rule"], one["layer"]) for one in json.loads(program)["findings"]]
    assert found == [("tool.write_file", "project"), ("policy.autonomy", "project")]


def test_files_are_checked_as_what_they_are(shell: Shell) -> None:
    lay_down(shell, TERRAFORM, STRICT)
    (shell.workspace / "regular.toml").write_text(TERRAFORM + "adds = ['-no-color']\n")

    both, one, fine, not_fine, none = shell.run_all(
        "policy check",
        "policy check .handrail/policy.toml",
        "policy check regular.toml",
        "policy check regular.toml --of project",
        "policy check none.toml",
    )

    assert ended_well(both).splitlines() == [
        f"good  {shell.home}/policy.toml",
        f"good  {shell.workspace}/.handrail/policy.toml",
    ]
    assert ended_well(one) == "good  .handrail/policy.toml\n"
    assert ended_well(fine) == "good  regular.toml\n"
    assert "adds is for the operator's file; leave it out" in refused(not_fine)
    assert refused(none) == "there is no file none.toml"


def test_a_row_about_a_tool_that_is_not_there_is_named(shell: Shell) -> None:
    row = "[[tool]]\nname = '{}'\nrisk = 'forbidden'\nreason = 'is done by people'\n"
    lay_down(shell, row.format("write_*"), row.format("write_fil"))

    good, also_good, stray = ended_well(shell.run("policy", "check")).splitlines()

    assert (good[:4], also_good[:4]) == ("good", "good")
    assert stray.strip().startswith("there is no tool called 'write_fil', so that row does nothing")


def test_where_there_is_nothing_to_check_or_to_try_that_is_said(shell: Shell) -> None:
    checked, tried = shell.run_all("policy check", "policy test")

    assert ended_well(checked).startswith("There is no policy file for this folder")
    assert tried.returncode == 2
    assert "give command lines, each in quotes, or a --file" in tried.stderr
    assert "policy test [OPTIONS]" in tried.stderr


def test_a_broken_file_is_named_and_nothing_is_explained_by_half(shell: Shell) -> None:
    lay_down(shell, "", "[[tool]]\nname = 'write_file'\n")

    for process in shell.run_all("policy check", "policy show", "explain read_file path=a.md"):
        assert (
            refused(process) == ".handrail/policy.toml: tool rule 'write_file': 'risk' is missing"
        )


def test_commands_are_tried_by_the_rules_of_their_folder(shell: Shell) -> None:
    lay_down(shell, TERRAFORM, "")
    (shell.workspace / "lines.txt").write_text("# tried\n\nnpm ci\nrustc a.rs\n")

    tried = ("rg x src", "sort -o b.md a.md", "rm -rf /")
    told = shell.run("policy", "test", *tried, "--file", "lines.txt")
    listed = shell.run("policy", "test", "--json", "nice rg x", "rm -r .")
    endless = shell.run("policy", "test", "cat 'a")
    nothing = shell.run("policy", "test", "--file", "none.txt")

    assert [" ".join(line.split()) for line in ended_well(told).splitlines()] == [
        "LOW read rg x src",
        "HIGH write sort -o b.md a.md",
        "sort -o writes a file",
        "FORBIDDEN refused rm -rf /",
        "Command not allowed: rm / would delete a root, a home or the whole workspace",
        "rm deletes files",
        "MEDIUM net npm ci",
        "npm ci installs or looks up packages; their scripts stay off",
        "MEDIUM write rustc a.rs",
        "rustc builds or tests, and runs code of the workspace with it",
    ]
    low, refusal = json.loads(ended_well(listed))["lines"]
    assert low == {
        "line": "nice rg x",
        "risk": "LOW",
        "profile": "read",
        "argv": ["nice", "rg", "--no-config", "x"],
        "reasons": [],
    }
    assert (refusal["risk"], refusal["profile"], refusal["argv"]) == ("FORBIDDEN", None, [])
    assert refused(endless) == '"cat \'a" is not a command line: No closing quotation'
    assert refused(nothing) == "none.txt cannot be read: No such file or directory"
