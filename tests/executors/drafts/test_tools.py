"""The tools that decide about a draft."""

import asyncio
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError, StaleFileError
from handrail.core.hands import Hands
from handrail.core.rehearsal import CallRef
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolResult
from handrail.policy.security import Scene
from handrail.tools.builtin.apply_draft import ApplyDraft
from handrail.tools.builtin.discard_draft import DiscardDraft
from handrail.tools.builtin.show_draft import ShowDraft
from tests.executors.drafts.session import DraftSession, contents
from tests.executors.rehearsal.repositories import run


class Decision:
    """A call of a tool that decides about the draft of a session."""

    def __init__(self, session: DraftSession, root: Path, steps: int | None = None):
        self.tool = ApplyDraft()
        self.params = self.tool.read_params({} if steps is None else {"steps": steps})
        self.scene = Scene(str(root))
        self.hands = Hands(drafts=session.drafts, call=session.call())

    async def survey(self) -> Survey:
        return await self.tool.survey(self.params, self.scene, self.hands)

    async def execute(self, survey: Survey) -> ToolResult:
        return await self.tool.execute(self.params, self.scene, self.hands, survey.facts)


async def test_the_card_has_the_steps_and_the_diff_of_the_sum(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.write("a.txt", "between\n")
    await session.shell("echo new > a.txt; exit 3")

    survey = await Decision(session, root).survey()

    lines = survey.evidence.splitlines()
    assert lines[0] == "a draft of 2 steps"
    assert lines[1].startswith("step 1")
    assert lines[2].endswith("(exit code 3)")
    assert "-old" in lines
    assert "+new" in lines
    assert "between" not in survey.evidence
    assert survey.summary == "Apply a draft of 2 steps: changes a.txt"


async def test_the_card_tells_what_git_changes_once(session: DraftSession, root: Path) -> None:
    await asyncio.to_thread(run, "git init -q -b main; echo one > a.txt", root)
    await asyncio.to_thread(run, "git config user.name a; git config user.email b", root)
    await session.shell("git add a.txt; git commit -qm first")

    survey = await Decision(session, root).survey()

    told = "\n".join((survey.summary, *(one.reason for one in survey.findings), survey.evidence))
    rows = [line for line in survey.evidence.splitlines() if line.startswith("[git]")]
    assert rows
    assert [told.count(row.removeprefix("[git] ")) for row in rows] == [1] * len(rows)
    assert "changes git's data" in survey.summary


async def test_a_yes_covers_the_steps_that_were_shown_and_no_later_ones(
    session: DraftSession, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    decision = Decision(session, root)
    survey = await decision.survey()
    await session.write("b.txt", "two\n")

    result = await decision.execute(survey)

    assert result.fields["left"] == 1
    assert contents(root) == {"a.txt": "one\n"}


async def test_a_workspace_that_has_changed_since_the_card_is_stale(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.write("a.txt", "agent\n")
    decision = Decision(session, root)
    survey = await decision.survey()
    (root / "a.txt").write_text("person\n")

    with pytest.raises(StaleFileError):
        await decision.execute(survey)
    assert contents(root) == {"a.txt": "person\n"}


async def test_a_conflict_is_refused_with_the_file(session: DraftSession, root: Path) -> None:
    (root / "a.txt").write_text("old\n")
    await session.write("a.txt", "agent\n")
    (root / "a.txt").write_text("person\n")

    survey = await Decision(session, root).survey()

    [finding] = [one for one in survey.findings if one.rule == "draft.conflict"]
    assert finding.risk is RiskLevel.FORBIDDEN
    assert finding.reason.startswith("a.txt was changed in the workspace")


async def test_a_deletion_in_the_sum_is_high(session: DraftSession, root: Path) -> None:
    (root / "a.txt").write_text("old\n")
    await session.shell("rm a.txt")

    survey = await Decision(session, root).survey()

    assert max(finding.risk for finding in survey.findings) is RiskLevel.HIGH


async def test_changes_that_cancel_each_other_out_need_no_decision(
    session: DraftSession, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.shell("rm a.txt")

    assert (await Decision(session, root).survey()).changes_nothing


async def test_a_step_that_was_applied_cannot_be_applied_again(
    session: DraftSession, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.write("b.txt", "two\n")
    await session.apply(1)

    with pytest.raises(CommandExecutionError, match="the draft has no step 1 or an earlier one"):
        await Decision(session, root, steps=1).survey()


async def show(session: DraftSession, root: Path, steps: int | None = None) -> ToolResult:
    tool = ShowDraft()
    params = tool.read_params({} if steps is None else {"steps": steps})
    hands = Hands(drafts=session.drafts, call=CallRef(session.name, "show"))
    return await tool.execute(params, Scene(str(root)), hands)


async def test_a_draft_is_shown_with_what_each_step_has_changed(
    session: DraftSession, root: Path
) -> None:
    (root / "a.txt").write_text("old\n")
    await session.write("a.txt", "new\n")
    await session.shell("rm a.txt; echo password=hunter2hunter2 > b.txt; exit 3")

    shown = await show(session, root)

    fields = shown.fields
    assert [(one["number"], one["exit_code"]) for one in fields["steps"]] == [(1, 0), (2, 3)]
    assert [one["changes"] for one in fields["steps"]] == [
        [{"path": "a.txt", "what": "changed"}],
        [{"path": "a.txt", "what": "deleted"}, {"path": "b.txt", "what": "created"}],
    ]
    assert (fields["files"], fields["conflicts"], fields["later"]) == (["a.txt", "b.txt"], [], 0)
    assert "-old" in fields["diff"]
    assert "hunter2" not in fields["diff"] + shown.output
    assert shown.output.splitlines()[:3] == [
        "a draft of 2 steps",
        "step 1    a call",
        "step 2    a call (exit code 3)",
    ]


async def test_the_first_steps_are_shown_without_the_later_ones(
    session: DraftSession, root: Path
) -> None:
    await session.write("a.txt", "one\n")
    await session.write("b.txt", "two\n")

    shown = await show(session, root, steps=1)

    assert (shown.fields["files"], shown.fields["later"]) == (["a.txt"], 1)
    with pytest.raises(CommandExecutionError, match="has no draft"):
        await show(DraftSession(session.drafts, "other"), root)


async def test_showing_a_draft_merges_nothing_and_waits_for_no_command(
    session: DraftSession, root: Path
) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    (root / "a.txt").write_text(lines)
    await session.shell("sed -i 's/^line 2$/agent/' a.txt")
    (root / "a.txt").write_text(lines.replace("line 18\n", "person\n"))

    running = asyncio.create_task(session.shell("sleep 3; echo b > b.txt"))
    await asyncio.sleep(0.5)
    shown = await show(session, root)
    assert not running.done()
    await running

    assert len(shown.fields["conflicts"]) == 1
    assert len((await show(session, root)).fields["steps"]) == 2


async def test_discarded_steps_are_named(session: DraftSession, root: Path) -> None:
    await session.write("a.txt", "one\n")
    await session.write("b.txt", "two\n")
    tool = DiscardDraft()
    hands = Hands(drafts=session.drafts, call=CallRef(session.name, "discard"))

    result = await tool.execute(tool.read_params({"step": 2}), Scene(str(root)), hands)
    again = await tool.execute(tool.read_params({"step": 2}), Scene(str(root)), hands)

    assert result.output.splitlines() == ["Removed from the draft:", "step 2: a call"]
    assert again.output == "The draft has no step 2; nothing was removed"
    assert await session.names() == ["a.txt"]
