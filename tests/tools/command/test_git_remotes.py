"""git that reaches a remote changes the workspace only as far as its effects were checked."""

from dataclasses import dataclass, field

import pytest

from handrail.core.effects import Effect, Effects, GitEffects, GitNote, GitWeight, Node
from handrail.core.errors import CommandExecutionError, StaleFileError
from handrail.core.files import EntryKind
from handrail.core.hands import Hands
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.rehearsal import CallRef, NoRehearsals, Rehearsed
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles
from handrail.tools.builtin.run_bash import RunBash, RunBashParams

CALL = CallRef("s", "t")
SCENE = Scene("/home/ada/project")
FETCHED = Effect("a.txt", None, Node(EntryKind.FILE, 0o644, 3, "abc"))
EXITED = CommandOutcome(b"done\n", b"", Ending.EXITED, 0, 0.1)


def noted(weight: GitWeight) -> Effects:
    changed = Effect(".git/HEAD", None, FETCHED.after)
    return Effects(git=GitEffects((GitNote(weight, "moves main"),), (changed,)))


@dataclass
class FakeRehearsals(NoRehearsals):
    """A machine with overlays, on which commands have these effects."""

    effects: Effects = field(default_factory=Effects)
    outcome: CommandOutcome = EXITED
    ended_by: str = ""
    error: StaleFileError | None = None
    impossible: str = ""
    done: list[str] = field(default_factory=list[str])

    async def rehearse(self, call: CallRef, *args: object, **others: object) -> Rehearsed:
        raise CommandExecutionError(self.impossible)

    async def why_not(self, call: CallRef) -> str:
        return self.impossible

    async def carry_out(self, call: CallRef, *args: object, **others: object) -> Rehearsed:
        del args, others
        self.done.append("ran")
        return Rehearsed(self.outcome, self.effects, ended_by=self.ended_by)

    async def apply(self, call: CallRef, *, can_undo: bool = True) -> None:
        if self.error is not None:
            raise self.error
        self.done.append("applied")

    async def drop(self, call: CallRef) -> None:
        self.done.append("dropped")


def hands(rehearsals: NoRehearsals) -> Hands:
    commands = FakeCommands({"git": b"plainly\n", "npm": b"", "make": b""})
    return Hands(FakeFiles({}), commands, rehearsals=rehearsals).for_call(CALL)


async def survey(line: str, rehearsals: NoRehearsals) -> Survey:
    return await RunBash().survey(RunBashParams(command=line), SCENE, hands(rehearsals))


async def execute(line: str, rehearsals: FakeRehearsals, **facts: str) -> ToolResult:
    params = RunBashParams(command=line)
    told: JsonObject = {"the folder .": "", **facts}
    return await RunBash().execute(params, SCENE, hands(rehearsals), told)


def reasons(found: Survey) -> list[str]:
    rule = "command.git-unchecked"
    assert all(one.risk is RiskLevel.HIGH for one in found.findings if one.rule == rule)
    return [one.reason for one in found.findings if one.rule == rule]


@pytest.mark.parametrize(
    ("line", "impossible", "why"),
    [
        ("git push", "", ""),
        ("git commit -m x && git push", "", ""),
        ("git status", "no overlays", ""),
        ("make all", "no overlays", ""),
        ("git push", "no overlays", "no overlays"),
        ("npm ci && git pull", "", "it uses the network for more than git's remotes"),
    ],
)
async def test_the_card_says_where_nothing_checks_what_git_changes(
    line: str, impossible: str, why: str
) -> None:
    found = await survey(line, FakeRehearsals(impossible=impossible))

    expected = [f"what git changes in .git is not checked: {why}"] if why else []
    assert reasons(found) == expected


async def test_it_says_so_too_where_local_git_cannot_be_rehearsed() -> None:
    found = await survey("git commit -m x", NoRehearsals("no overlays"))

    assert reasons(found) == ["what git changes in .git is not checked: it could not be rehearsed"]


@pytest.mark.parametrize("weight", [GitWeight.CHANGE, GitWeight.SETTING])
async def test_changes_are_applied(weight: GitWeight) -> None:
    rehearsals = FakeRehearsals(effects=noted(weight))

    result = await execute("git pull", rehearsals)

    assert result.success
    assert result.fields["can_undo"] is True
    assert rehearsals.done == ["ran", "applied"]


async def test_a_push_cannot_be_undone() -> None:
    result = await execute("git push", FakeRehearsals(effects=noted(GitWeight.CHANGE)))

    assert result.fields["can_undo"] is False


async def test_without_a_change_nothing_is_applied() -> None:
    rehearsals = FakeRehearsals()

    assert (await execute("git fetch", rehearsals)).success
    assert rehearsals.done == ["ran", "dropped"]


REFUSED = {
    "a loss": FakeRehearsals(effects=noted(GitWeight.LOSS)),
    "what is never applied": FakeRehearsals(effects=noted(GitWeight.REFUSED)),
    "a guarded file": FakeRehearsals(effects=Effects((Effect(".env", None, FETCHED.after),))),
    "effects that are not all known": FakeRehearsals(
        effects=Effects((FETCHED,)), ended_by="it filled its memory"
    ),
    "a workspace that has changed": FakeRehearsals(
        effects=Effects((FETCHED,)), error=StaleFileError("a.txt has changed")
    ),
}


@pytest.mark.parametrize("why", REFUSED)
@pytest.mark.parametrize("line", ["git pull", "git push"])
async def test_nothing_is_changed_without_another_question(line: str, why: str) -> None:
    rehearsals = REFUSED[why]

    result = await execute(line, rehearsals)

    assert not result.success
    assert "nothing was changed here" in result.output
    assert ("what it has pushed is at the remote" in result.output) is (line == "git push")
    assert result.fields["changed"] == []
    assert "applied" not in rehearsals.done


async def test_a_command_that_was_ended_changes_nothing() -> None:
    ended = CommandOutcome(b"", b"", Ending.TIMED_OUT, None, 60)
    rehearsals = FakeRehearsals(effects=Effects((FETCHED,)), outcome=ended)

    assert not (await execute("git pull", rehearsals)).success
    assert rehearsals.done == ["ran", "dropped"]


async def test_what_was_approved_unchecked_runs_plainly() -> None:
    found = await survey("git pull", FakeRehearsals(impossible="no overlays"))
    rehearsals = FakeRehearsals()

    params = RunBashParams(command="git pull")
    result = await RunBash().execute(params, SCENE, hands(rehearsals), found.facts)

    assert result.output == "plainly\n"
    assert rehearsals.done == []


async def test_what_was_to_be_checked_never_runs_plainly() -> None:
    class Lost(FakeRehearsals):
        async def carry_out(self, call: CallRef, *args: object, **others: object) -> Rehearsed:
            raise CommandExecutionError("no overlay could be made")

    with pytest.raises(CommandExecutionError, match="no overlay"):
        await execute("git pull", Lost())
