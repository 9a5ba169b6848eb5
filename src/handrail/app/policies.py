"""The policy files that hold in a folder, listed and checked without a server."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from handrail.app.home import Home
from handrail.app.plugins import load_toolbox
from handrail.app.policy_files import PolicyFile, WorkspacePolicy
from handrail.app.settings import load_settings
from handrail.core.box import Profile
from handrail.core.errors import BadInput
from handrail.core.policy import LayerSummary
from handrail.core.risk import Layer, RiskLevel, worst
from handrail.policy.rulebook.book import PROJECT_FILE, operator_rules, project_rules
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.summary import summarise
from handrail.policy.validators.commands import CommandValidator

_LAYERS = (Layer.OPERATOR, Layer.PROJECT)


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """What a command line comes to where a box is proven; what is refused has no box."""

    line: str
    risk: RiskLevel
    profile: Profile | None
    argv: tuple[str, ...]
    reasons: tuple[str, ...]


def show_policy(workspace: Path, home: Path | None) -> list[LayerSummary]:
    """Every layer that holds in a folder."""
    policy = WorkspacePolicy(Home(load_settings(home=home).home), workspace.resolve())
    operator, project = policy.paths
    rulebook = policy.rulebook
    own = project_rules(policy.text)
    return [
        summarise(Layer.SHIPPED, "shipped with Handrail", default_rules()),
        summarise(Layer.OPERATOR, _told(operator), rulebook.operator),
        summarise(Layer.PROJECT, _told(project), own, rulebook.rules_for("")),
    ]


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file that can be read, and which of its rows are about tools that nobody has."""

    path: Path
    stray: tuple[str, ...]


def check_policy(
    file: Path | None, layer: str | None, workspace: Path, home: Path | None
) -> list[CheckedFile]:
    """The files that were read and hold their own examples.

    Raises:
        RuleError: One of them does not.
        BadInput: There is no such file.
    """
    own = Home(load_settings(home=home).home)
    if file is None:
        paths = WorkspacePolicy(own, workspace.resolve()).paths
        return [_checked(path, layer, own) for path, layer in zip(paths, _LAYERS, strict=True)
                if path.exists()]  # fmt: skip
    if not file.exists():
        raise BadInput(f"there is no file {file}")
    return [_checked(file, Layer(layer or _layer_of(file, own)), own)]


def _checked(file: Path, layer: Layer, home: Home) -> CheckedFile:
    text = PolicyFile(file).read()
    is_projects = layer is Layer.PROJECT
    rules = project_rules(text) if is_projects else operator_rules(text, str(file))
    known = [tool.name for tool in load_toolbox(home.tools).registry]
    stray = [rule.name for rule in rules.tools if rule.layer is layer
             if not any(map(rule.covers, known))]  # fmt: skip
    return CheckedFile(file, tuple(stray))


def judge_lines(
    lines: Sequence[str], file: Path | None, workspace: Path, home: Path | None
) -> list[JudgedLine]:
    """Judge command lines by the rules that hold in a folder.

    A file has one on each line; a `#` begins a comment.

    Raises:
        BadInput: There is no such file, or a line has quotes without an end.
    """
    place = workspace.resolve()
    policy = WorkspacePolicy(Home(load_settings(home=home).home), place)
    validator = CommandValidator(str(place), policy.rules)
    written = [] if file is None else _lines_of(file)
    return [_judge_line(line, validator) for line in (*lines, *written)]


def _lines_of(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "it is not UTF-8 text"
        raise BadInput(f"{file} cannot be read: {why}") from error
    lines = map(str.strip, text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _judge_line(line: str, validator: CommandValidator) -> JudgedLine:
    try:
        command, *args = shlex.split(line) or [""]
    except ValueError as error:
        raise BadInput(f"{line!r} is not a command line: {error}") from error
    findings = validator.validate_command(command, args)
    risk, reasons = worst(findings), tuple(finding.reason for finding in findings)
    if risk is RiskLevel.FORBIDDEN:
        return JudgedLine(line, risk, None, (), reasons)
    planned = validator.stage_of(command, args)
    return JudgedLine(line, risk, planned.profile, planned.argv, reasons)


def _layer_of(file: Path, home: Home) -> Layer:
    """A file that lies where projects keep theirs is one of those."""
    path = file.resolve()
    is_in_project = path.match(PROJECT_FILE) and path.parent != home.path.resolve()
    return Layer.PROJECT if is_in_project else Layer.OPERATOR


def _told(path: Path) -> str:
    return str(path) if path.exists() else f"{path} (does not exist)"
