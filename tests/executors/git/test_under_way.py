"""git goes on with work that is under way only by plans that name no program."""

from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.shell import sh

TODO = ".git/rebase-merge/git-rebase-todo"
# A rebase that waits before the one commit that it is to take over.
WAITING = r"""
git init -q -b main . && echo a > a && git add a && git commit -qm first
git checkout -qb topic && echo t > t && git add t && git commit -qm topic
git checkout -q main && echo b > b && git add b && git commit -qm second && git checkout -q topic
GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i main
printf '#!/bin/sh\ntouch ran\n' > x && chmod +x x
"""


async def run(executor: CommandExecutor, line: str, folder: str = ".") -> CommandOutcome:
    words = tuple(line.split())
    programs = tuple(word for word in words if word in ("git", "timeout"))
    stage = Stage(words, Profile.WRITE, folder=folder, programs=programs)
    return await executor.run([stage], timeout_seconds=30)


@pytest.mark.parametrize("step", ["exec ./x", "x ./x", " \texec\t./x", "exec\r./x", "EXEC", "?"])
async def test_a_planned_program_is_told_and_not_run(
    executor: CommandExecutor, root: Path, step: str
) -> None:
    sh(root, WAITING)
    with (root / TODO).open("a", newline="") as plan:
        plan.write(f"{step}\n")

    with pytest.raises(CommandExecutionError, match=rf"{TODO}, and line 2 \(") as caught:
        await run(executor, "git rebase --continue")

    assert "git rebase --abort" in str(caught.value)
    assert not (root / "ran").exists()
    assert (await run(executor, "git rebase --abort")).exit_code == 0


async def test_who_hides_going_on_behind_an_end_does_not_go_on(
    executor: CommandExecutor, root: Path
) -> None:
    sh(root, f"{WAITING}\necho exec ./x >> {TODO}")

    for line in ("git rebase -X --abort --continue", "timeout 5 git rebase --skip"):
        with pytest.raises(CommandExecutionError, match="line 2"):
            await run(executor, line)


@pytest.mark.parametrize(
    "line",
    [
        "env A=/git git rebase --continue",
        "env A=x/git B=git git rebase --continue",
        "env -v A=/git nice -n 5 timeout -k 1 20 git --no-pager rebase --continue",
        "timeout --signal git 20 git rebase --skip",
    ],
)
async def test_a_planned_program_is_seen_whoever_starts_git(
    executor: CommandExecutor, root: Path, line: str
) -> None:
    sh(root, f"{WAITING}\necho exec ./x >> {TODO}")
    command, *args = line.split()
    stage = CommandValidator(executor.root).stage_of(command, args)

    with pytest.raises(CommandExecutionError, match=rf"{TODO}, and line 2 \("):
        await executor.run([stage], timeout_seconds=30)

    assert not (root / "ran").exists()


async def test_plans_of_git_itself_are_gone_on_with(executor: CommandExecutor, root: Path) -> None:
    lines = "# a comment\n\nlabel x\nupdate-ref refs/heads/kept\nnoop\nbreak\n"
    sh(root, WAITING)
    with (root / TODO).open("a") as plan:
        plan.write(lines)

    outcome = await run(executor, "git rebase --continue")

    assert outcome.exit_code == 0, outcome.stderr
    assert (root / "t").exists()
    assert (root / "b").exists()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("rebase-merge/strategy", "index\n", "line 1 (index)"),
        ("rebase-apply/apply-opt", " '--unsafe-paths' '-p1'", "line 1 (--unsafe-paths)"),
        ("sequencer/todo", "pick a\nexec ./x\n", "line 2 (exec ./x)"),
        ("sequencer/opts", "[options]\n\tstrategy = ./x\n", "line 1 (./x)"),
        ("sequencer/opts", "[options", "line 1 ([options)"),
        (TODO.removeprefix(".git/"), "exec ./x\0", "a zero byte"),
    ],
)
@pytest.mark.parametrize("action", ["rebase", "am", "cherry-pick", "revert"])
async def test_neither_is_anything_else_that_could_name_one(
    executor: CommandExecutor, root: Path, name: str, content: str, told: str, action: str
) -> None:
    sh(root, "git init -q .")
    (root / ".git" / name).parent.mkdir()
    (root / ".git" / name).write_text(content)

    with pytest.raises(CommandExecutionError) as caught:
        await run(executor, f"git {action} --continue")

    assert told in str(caught.value)


@pytest.mark.parametrize("lines", ["mv {0} todo && ln -s ../../todo {0}", "rm {0} && mkfifo {0}"])
async def test_a_plan_that_others_could_exchange_is_none(
    executor: CommandExecutor, root: Path, lines: str
) -> None:
    sh(root, f"{WAITING}\n{lines.format(TODO)}")

    with pytest.raises(CommandExecutionError, match=TODO):
        await run(executor, "git rebase --continue")


async def test_nor_is_one_in_a_folder_that_is_a_link(executor: CommandExecutor, root: Path) -> None:
    sh(root, f"{WAITING}\nmv .git/rebase-merge kept && ln -s ../kept .git/rebase-merge")

    with pytest.raises(CommandExecutionError, match="reached by a link"):
        await run(executor, "git rebase --continue")


@pytest.mark.parametrize("folder", ["tree", "part"])
async def test_it_is_so_in_a_further_worktree_and_in_a_part(
    executor: CommandExecutor, root: Path, folder: str
) -> None:
    sh(
        root,
        "git init -q x && git -C x commit -q --allow-empty -m x && git init -q ."
        " && git -c protocol.file.allow=always submodule --quiet add ./x part"
        " && git commit -qm one && git worktree add -q tree"
        f" && cd {folder} && d=$(git rev-parse --absolute-git-dir)/rebase-merge && mkdir $d"
        " && echo exec ./x > $d/git-rebase-todo",
    )

    with pytest.raises(CommandExecutionError, match=r"rebase-todo, and line 1 \(exec \./x\)"):
        await run(executor, "git rebase --continue", folder)
    assert (await run(executor, "git commit --allow-empty -qm y", folder)).exit_code == 0


SEARCHED = """
git init -q -b main . && echo a > a && git add a && git commit -qm 1
echo b > a && git commit -qam 2 && git bisect start -q && git bisect bad && git bisect good HEAD~1
"""


@pytest.mark.parametrize("name", ["BISECT_START", "BISECT_TERMS"])
@pytest.mark.parametrize("words", ["--force", "-f", "main --force", "a\n-f", "main~1"])
@pytest.mark.parametrize(
    "line", ["git bisect reset", "git bisect start", "timeout 9 git bisect log"]
)
async def test_a_bisection_goes_back_to_a_name_and_to_nothing_else(
    executor: CommandExecutor, root: Path, name: str, words: str, line: str
) -> None:
    sh(root, SEARCHED)
    (root / "a").write_text("precious")
    (root / ".git" / name).write_text(f"{words}\n")

    with pytest.raises(
        CommandExecutionError, match=rf".git/{name}, and line \d .* not a plain name"
    ):
        await run(executor, line)

    assert (root / "a").read_text() == "precious"


async def test_a_bisection_of_gits_own_is_ended(executor: CommandExecutor, root: Path) -> None:
    sh(root, f"{SEARCHED}\ngit bisect reset; git checkout -q -b feat/a.b-1 && git bisect start")

    for line in ("git bisect bad", "git bisect good HEAD~1", "git bisect reset"):
        outcome = await run(executor, line)

        assert outcome.exit_code == 0, outcome.stderr
    assert (root / ".git/HEAD").read_text() == "ref: refs/heads/feat/a.b-1\n"
