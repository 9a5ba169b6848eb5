"""Nothing that git writes while it runs becomes settings of the same run."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from tests.executors.git.test_guard import CLEAN

PASSWORD = "PASSWORD-4714"
# A merge brings a file of settings, and with it a filter for what is put aside meanwhile.
BRANCHES = r"""
git init -q -b main . && echo ok > dirty && git add . && git commit -qm one
git switch -qc b && mkdir -p "$(dirname "$BROUGHT")"
printf '[filter "x"]\n\tsmudge = "touch ran; cp .git/config stolen; cat"\n' > "$BROUGHT"
echo '* filter=x' > .gitattributes && git add . && git commit -qm two && git switch -q main
git config remote.x.url https://ada:PASSWORD-4714@example.com/
"""
PLANTED = {
    "an included file that includes another": (
        "cfg",
        "git config include.path sub/inc && mkdir .git/sub && ln -s ../../cfg .git/sub/link"
        r" && printf '[include]\n\tpath = link\n' > .git/sub/inc",
        "from another file",
    ),
    "settings that are a link": (
        "cfg",
        "mv .git/config kept && ln -s ../cfg .git/config && rm kept",
        r"\.git/config is a link",
    ),
    "settings of a worktree that are a link": (
        "cfg",
        "git config extensions.worktreeConfig true && ln -s ../cfg .git/config.worktree",
        r"\.git/config\.worktree is a link",
    ),
    "a repository that is kept among the files": (
        "store/config.worktree",
        "git config extensions.worktreeConfig true && mv .git store && echo gitdir: store > .git",
        "kept in store",
    ),
    "a repository that is reached by a link": (
        "cfg",
        "mv .git x.git && mkdir .git && mv x.git .git/real && ln -s .git link"
        " && mv .git outer && echo gitdir: link/../outer/real > .git",
        "link",
    ),
}


def sh(root: Path, lines: str, **variables: str) -> None:
    subprocess.run(["sh", "-ec", lines], cwd=root, env={**CLEAN, **variables}, check=True)


async def run(
    executor: CommandExecutor, *words: str, profile: Profile = Profile.WRITE, folder: str = "."
) -> CommandOutcome:
    return await executor.run([Stage(("git", *words), profile, folder=folder)], timeout_seconds=30)


@pytest.mark.parametrize(("brought", "lines", "told"), PLANTED.values(), ids=PLANTED)
async def test_what_a_merge_brings_becomes_no_settings(
    executor: CommandExecutor, root: Path, brought: str, lines: str, told: str
) -> None:
    sh(root, f"{BRANCHES}\n{lines}\necho changed > dirty", BROUGHT=brought)

    with pytest.raises(CommandExecutionError, match=told):
        await run(executor, "merge", "--autostash", "b")

    assert not (root / "ran").exists()
    assert not (root / "stolen").exists()


@pytest.mark.parametrize("profile", [Profile.READ, Profile.WRITE])
@pytest.mark.parametrize("place", ["sub", "/", "../..", "../link", "../other"])
async def test_git_works_in_no_other_folder_than_its_own(
    executor: CommandExecutor, root: Path, place: str, profile: Profile
) -> None:
    sh(root, "git init -q . && mkdir .git/sub other && ln -s . link")
    sh(root, f"git config core.worktree '{place}'")

    with pytest.raises(CommandExecutionError, match=r"core\.worktree"):
        await run(executor, "status", profile=profile)


@pytest.mark.parametrize("place", ["..", "../.", "{root}"])
async def test_git_works_in_its_own_folder_whoever_names_it(
    executor: CommandExecutor, root: Path, place: str
) -> None:
    sh(root, f"git init -q . && git config core.worktree {place.format(root=root)}")

    assert (await run(executor, "status")).exit_code == 0


async def test_a_part_and_a_further_worktree_work_as_ever(
    executor: CommandExecutor, root: Path
) -> None:
    sh(
        root,
        "git init -q x && git -C x commit -q --allow-empty -m x && git init -q ."
        " && git -c protocol.file.allow=always submodule --quiet add ./x part"
        " && git commit -qm one && git worktree add -q tree",
    )

    for folder in (".", "part", "tree"):
        outcome = await run(executor, "commit", "--allow-empty", "-qm", "y", folder=folder)
        assert outcome.exit_code == 0, outcome.stderr
