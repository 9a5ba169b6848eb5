"""What is suggested as a rule can be put into a project's file, and does what it says."""

from typing import Any

import pytest

from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel, worst
from handrail.core.verdict import Ruling
from handrail.policy.rulebook.book import Rulebook
from handrail.policy.suggestion import suggest_refusal
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.scripts import ScriptValidator
from handrail.tools.catalogue import judge


def commands_under(text: str) -> CommandValidator:
    return CommandValidator("/work", Rulebook().rules_for(text))


def risk_of(line: str, text: str = "") -> RiskLevel:
    command, *args = line.split()
    return worst(commands_under(text).validate_command(command, args))


def suggested(key: str, tool: str = "execute_command", **params: Any) -> str:
    found = suggest_refusal(tool, key, params)
    assert found is not None
    assert found.covers.startswith("Refuses ")
    return found.text


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        pytest.param("docs/guide.md", "src/guide.md", id="below-a-folder"),
        pytest.param("docs/old/a.md", "docs/a.py", id="deep-below-it"),
        pytest.param("notes.md", "notes.py", id="in-the-top-folder"),
        pytest.param("web/a b.d.ts", "web/a.js", id="with-blanks"),
    ],
)
def test_the_rule_for_writes_refuses_their_class_and_leaves_others(path: str, beside: str) -> None:
    rules = Rulebook().rules_for("")
    kind = judge("write_file", {"path": path, "content": "x"}, workspace="/work", policy=rules)
    top, _, rest = path.partition("/")
    ending = path.rpartition(".")[2]
    text = suggested(f"write_file:{f'{top}/**/' if rest else ''}*.{ending}", "write_file")

    strict = Rulebook().rules_for(text)
    after = judge("write_file", {"path": path, "content": "x"}, workspace="/work", policy=strict)
    other = judge("write_file", {"path": beside, "content": "x"}, workspace="/work", policy=strict)

    assert kind.ruling is Ruling.ASK
    assert after.ruling is Ruling.DENY
    assert other.ruling is Ruling.ASK


@pytest.mark.parametrize(
    ("line", "beside"),
    [
        pytest.param("git commit -m x", "git checkout main", id="a-subcommand"),
        pytest.param("npm install left-pad", "npm ci", id="one-that-reaches-out"),
        pytest.param("npm run build", "npm run lint", id="a-task"),
        pytest.param("cargo test", "cargo build", id="of-a-toolchain"),
        pytest.param("pytest -q", "mkdir a", id="a-command"),
    ],
)
def test_the_rule_for_a_command_refuses_its_class_and_leaves_others(line: str, beside: str) -> None:
    command, *args = line.split()
    kind = commands_under("").class_of(command, args)
    assert kind is not None

    text = suggested(kind.key)

    assert risk_of(line) is RiskLevel.MEDIUM
    assert risk_of(line, text) is RiskLevel.FORBIDDEN
    assert risk_of(beside, text) is risk_of(beside)
    assert risk_of("git log --oneline", text) is RiskLevel.LOW


@pytest.mark.parametrize(
    ("line", "beside"),
    [
        pytest.param("python3 tool.py --all", "python3 other.py", id="a-script"),
        pytest.param("./make.sh", "git status", id="a-program-of-the-workspace"),
    ],
)
def test_the_rule_for_exact_words_refuses_them(line: str, beside: str) -> None:
    command, *args = line.split()
    kind = commands_under("").class_of(command, args)
    assert kind is not None
    assert kind.is_exact

    text = suggested(kind.key, command=command, args=args)
    in_bash = suggested(kind.key, "run_bash", command=line)

    assert text == in_bash
    assert risk_of(line, text) is RiskLevel.FORBIDDEN
    assert risk_of(beside, text) is risk_of(beside)
    bash = ScriptValidator("/work", Rulebook().rules_for(text))
    assert worst(bash.validate_script(line)) is RiskLevel.FORBIDDEN


def test_without_a_class_the_whole_tool_is_refused() -> None:
    text = suggested("", "run_bash")

    found = judge(
        "run_bash",
        {"command": "ls"},
        workspace="/work",
        policy=Rulebook().rules_for(text),
        autonomy=Autonomy.FULL,
    )

    assert found.ruling is Ruling.DENY


@pytest.mark.parametrize(
    ("tool", "key", "params"),
    [
        pytest.param("thing", "thing:whatever", {}, id="a-class-nobody-knows"),
        pytest.param("execute_command", "exactly:write:0", {}, id="words-that-are-gone"),
        pytest.param("run_bash", "exactly:write:0", {"command": "a 'b"}, id="half-a-quote"),
        pytest.param(
            "execute_command", "exactly:write:0", {"command": "a", "args": ["*.py"]}, id="a-star"
        ),
        pytest.param("write_file", "write_file:a\u202eb/**/*.md", {}, id="turned-around"),
        pytest.param("write_file", "write_file:a/**/b/**/*.md", {}, id="too-many-stars"),
        pytest.param("execute_command", "command:write:a b c d", {}, id="too-many-words"),
        pytest.param("*", "", {}, id="every-tool"),
    ],
)
def test_what_no_rule_can_say_is_not_suggested(tool: str, key: str, params: dict[str, Any]) -> None:
    assert suggest_refusal(tool, key, params) is None
