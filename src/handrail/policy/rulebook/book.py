"""The rules in force: those Handrail ships, the operator's over them, a project's beside them."""

from collections.abc import Callable
from functools import lru_cache

from handrail.core.errors import RuleError
from handrail.core.few import Few
from handrail.core.risk import Layer, RiskLevel
from handrail.policy.rulebook.rules import Rules, default_rules, read_document
from handrail.policy.rulebook.tools import ToolRule

PROJECT_FILE = ".handrail/policy.toml"
MAX_POLICY_BYTES = 256_000

_MOST_PROJECTS = 100


def operator_rules(text: str, source: str) -> Rules:
    """What the operator's file says; its examples are judged as calls will be."""
    document = read_document(text, source)
    return Rules.read(document, source=source, layer=Layer.OPERATOR, beneath=default_rules())


@lru_cache(_MOST_PROJECTS)
def project_rules(text: str) -> Rules:
    """What a project's file says for itself, before it is laid beside the others."""
    return Rules.parse(text, source=PROJECT_FILE, layer=Layer.PROJECT)


def _nothing_to_refresh() -> None:
    """Rules that come from no file do not change."""


class Rulebook:
    """The operator's rules can be exchanged at any time; calls are judged by those in force.

    `refresh` is called before each answer, so that a changed file counts for the next call.
    """

    def __init__(
        self, operator: Rules | None = None, refresh: Callable[[], object] = _nothing_to_refresh
    ):
        self._refresh = refresh
        self.exchange(operator or Rules())

    def exchange(self, operator: Rules) -> None:
        self.operator = operator
        self._general = default_rules().replaced_by(operator)
        self._of_projects: Few[str, Rules] = Few(_MOST_PROJECTS)

    def rules_for(self, policy: str) -> Rules:
        """The rules for a workspace with this text in its project's file.

        A text that cannot be read any more, say after an upgrade, forbids everything.
        """
        self._refresh()
        if not policy:
            return self._general
        if (known := self._of_projects.get(policy)) is not None:
            return known
        try:
            own = project_rules(policy)
        except RuleError as error:
            own = Rules(tools=(_refuse_all(error),))
        return self._of_projects.keep(policy, self._general.tightened_by(own))


def _refuse_all(error: RuleError) -> ToolRule:
    reason = f"the project's policy cannot be read, so nothing is allowed: {error.message}"
    return ToolRule("*", RiskLevel.FORBIDDEN, reason, Layer.PROJECT)
