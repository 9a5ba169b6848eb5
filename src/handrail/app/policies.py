"""The policy files that hold in a folder, listed and checked without a server."""

from pathlib import Path

from handrail.app.home import Home
from handrail.app.policy_files import PolicyFile, WorkspacePolicy
from handrail.app.settings import load_settings
from handrail.core.errors import BadInput
from handrail.core.policy import LayerSummary
from handrail.core.risk import Layer
from handrail.policy.rulebook.book import PROJECT_FILE, operator_rules, project_rules
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.summary import summarise


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


def check_policy(
    file: Path | None, layer: str | None, workspace: Path, home: Path | None
) -> list[Path]:
    """The files that were read and hold their own examples.

    Raises:
        RuleError: One of them does not.
        BadInput: There is no such file.
    """
    own = Home(load_settings(home=home).home)
    if file is None:
        policy = WorkspacePolicy(own, workspace.resolve())
        return [path for path in policy.paths if path.exists()]
    if not file.exists():
        raise BadInput(f"there is no file {file}")
    text = PolicyFile(file).read()
    if Layer(layer or _layer_of(file, own)) is Layer.PROJECT:
        project_rules(text)
    else:
        operator_rules(text, str(file))
    return [file]


def _layer_of(file: Path, home: Home) -> Layer:
    """A file that lies where projects keep theirs is one of those."""
    path = file.resolve()
    is_in_project = path.match(PROJECT_FILE) and path.parent != home.path.resolve()
    return Layer.PROJECT if is_in_project else Layer.OPERATOR


def _told(path: Path) -> str:
    return str(path) if path.exists() else f"{path} (not there)"
