"""Commands in which git reaches a remote.

A rehearsal cannot show what a remote will answer, so a person approves the words. Then they run
over an overlay, and the effects are checked before they are applied.
"""

from collections.abc import Sequence

from handrail.core.box import Profile
from handrail.core.effects import GitWeight
from handrail.core.rehearsal import Rehearsed
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.core.tool import JsonObject
from handrail.policy.effects import judge_effects
from handrail.policy.rulebook.reading import in_full
from handrail.policy.rulebook.rules import Rules

_GIT = "git"
_PUSH = "push"
# The fact that an approval also covers changes of git that nothing has checked.
_UNCHECKED = "the check of git's changes"
UNCHECKED: JsonObject = {_UNCHECKED: "none"}


def runs_git(stage: Stage) -> bool:
    return any(name.rpartition("/")[2] == _GIT for name in stage.programs)


def changes_git(stages: Sequence[Stage]) -> bool:
    return any(stage.profile is not Profile.READ and runs_git(stage) for stage in stages)


def reaches_only_remotes(stages: Sequence[Stage]) -> bool:
    """True if some stages use a network, and these only for git's remotes."""
    networked = [stage for stage in stages if stage.networks or stage.hosts]
    return bool(networked) and all(
        stage.networks == (_GIT,) and not stage.hosts for stage in networked
    )


def pushes(stages: Sequence[Stage]) -> bool:
    return any(runs_git(stage) and _PUSH in stage.argv for stage in stages)


def unchecked(why: str) -> Finding:
    reason = f"what git changes in .git is not checked: {why}"
    return Finding("command.git-unchecked", reason, RiskLevel.HIGH)


def was_unchecked(facts: JsonObject) -> bool:
    return _UNCHECKED in facts


def facts_of_look(facts: JsonObject) -> JsonObject:
    return {name: fact for name, fact in facts.items() if name != _UNCHECKED}


def why_not_applied(done: Rehearsed, stages: Sequence[Stage], rules: Rules) -> str:
    """Why the effects are not applied without another question; empty if they are.

    Where only git runs, it changes files to what it has of them, or leaves conflicts. Other
    changes come from a program that the repository has it run, and no word has announced them.
    """
    if not done.is_complete:
        return done.ended_by
    git = done.effects.git
    if all(stage.programs == (_GIT,) for stage in stages):
        for one in done.changes:
            if one.path not in git.as_git | git.conflicts:
                return f"something that git ran has changed {in_full(one.path)}"
    losses = [note.words for note in git.notes if note.weight is GitWeight.LOSS]
    refused = [
        finding.reason
        for finding in judge_effects(done.effects, rules)
        if finding.risk is RiskLevel.FORBIDDEN
    ]
    return next(iter((*refused, *losses)), "")
