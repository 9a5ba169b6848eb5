"""Whatever is planted below a `.git` is refused, or shown as more than an ordinary change."""

from pathlib import Path
from typing import NamedTuple

import pytest

from handrail.core.effects import GitNote, GitWeight
from handrail.core.errors import PathValidationError, ToolError
from handrail.core.rehearsal import Rehearsed
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.conftest import snapshot
from tests.executors.rehearsal.repositories import as_same, copy_of, git, run

PROGRAM = r"set -e; printf '#!/bin/sh\ntouch ran\n' > evil.sh; chmod +x evil.sh; "
FSMONITOR = r"printf '[core]\n\tfsmonitor = ./evil.sh\n'"
WORKTREE = "git worktree add -q wt feature"
# A folder that git takes for a repository, with settings of its own.
FAKE = f"mkdir -p fake/objects fake/refs; echo 'ref: refs/heads/main' > fake/HEAD; {FSMONITOR}"

SETTINGS = {
    "core.fsmonitor": "./evil.sh",
    "core.hooksPath": "hooks",
    "core.sshCommand": "./evil.sh",
    "core.editor": "./evil.sh",
    "core.pager": "./evil.sh",
    "core.gitProxy": "./evil.sh",
    "core.worktree": "/etc",
    "sequence.editor": "./evil.sh",
    "include.path": "../evil.cfg",
    "includeIf.gitdir:/.path": "../evil.cfg",
    "alias.st": "!./evil.sh",
    "filter.x.clean": "./evil.sh",
    "filter.x.process": "./evil.sh",
    "diff.x.command": "./evil.sh",
    "diff.x.textconv": "./evil.sh",
    "merge.x.driver": "./evil.sh",
    "credential.helper": "!./evil.sh",
    "url.https://evil.example/.insteadOf": "https://example.org/",
    "remote.origin.uploadpack": "./evil.sh",
    "remote.origin.proxy": "http://evil.example",
    "http.proxy": "http://evil.example",
    "gpg.program": "./evil.sh",
}


class Plant(NamedTuple):
    """A line of shell, what is done before it, and a word that has to be in a note of it."""

    line: str
    setup: str = ""
    word: str = ""


PLANTS = {
    "settings of no program that git knows": Plant(r"printf '[x]\n\ty = z\n' >> .git/config"),
    "settings that all may write": Plant("chmod 666 .git/config"),
    "settings of a worktree": Plant(
        f"{FSMONITOR} > .git/worktrees/wt/config.worktree",
        f"{WORKTREE}; git config extensions.worktreeConfig true",
    ),
    "settings of what is no repository yet": Plant(
        f"mkdir -p .git/modules/e; {FSMONITOR} > .git/modules/e/config"
    ),
    "settings of a repository within": Plant(
        "git -C sub config core.fsmonitor ./x", "git init -q sub"
    ),
    "a hook": Plant("cp evil.sh .git/hooks/pre-commit"),
    "a sample as a hook": Plant("mv .git/hooks/pre-commit.sample .git/hooks/pre-commit"),
    "a hook of what is no repository yet": Plant(
        "mkdir -p .git/modules/e/hooks; cp evil.sh .git/modules/e/hooks/post-checkout"
    ),
    "a hook of a repository within": Plant(
        "cp evil.sh sub/.git/hooks/post-checkout", "git init -q sub"
    ),
    "a hook of a new repository": Plant(
        "git init -q sub; cp evil.sh sub/.git/hooks/pre-commit", word="pre-commit"
    ),
    "a hook of a worktree": Plant(
        "mkdir .git/worktrees/wt/hooks; cp evil.sh .git/worktrees/wt/hooks/pre-commit", WORKTREE
    ),
    "a hook of no worktree": Plant(
        "mkdir -p .git/worktrees/x/hooks; cp evil.sh .git/worktrees/x/hooks/pre-commit"
    ),
    "hooks that are a link": Plant("rm -r .git/hooks; mkdir hooks; ln -s ../hooks .git/hooks"),
    "a worktree of another repository": Plant(
        f'{FAKE} > fake/config; echo "$PWD/fake" > .git/worktrees/wt/commondir', WORKTREE
    ),
    "another repository in common": Plant(
        f"{FAKE} > fake/config; echo ../fake > .git/commondir",
    ),
    "attributes": Plant("echo '* filter=x' > .git/info/attributes"),
    "grafts": Plant("git rev-parse main > .git/info/grafts"),
    "borrowed objects": Plant("echo /tmp > .git/objects/info/alternates"),
    "objects borrowed over http": Plant(
        "echo https://evil.example/ > .git/objects/info/http-alternates"
    ),
    "a replaced commit": Plant("git replace main main~1"),
    "a replaced commit by hand": Plant(
        "old=$(git rev-parse main~1); new=$(git rev-parse main); mkdir -p .git/refs/replace;"
        " echo $old > .git/refs/replace/$new"
    ),
    "a ref that is a link": Plant("ln -s /etc/passwd .git/refs/heads/evil"),
    "a HEAD that is a link": Plant("rm .git/HEAD; ln -s refs/heads/feature .git/HEAD"),
    "packed refs that git reads in another way": Plant(
        r"printf '%s\trefs/replace/%s\n' $(git rev-parse main~1 main) >> .git/packed-refs"
    ),
    "packed refs with a second value of a tag": Plant(
        "git pack-refs --all; sed -i"
        r' "s#^[0-9a-f]* refs/tags/v1#$(git rev-parse main) refs/tags/v1\n&#" .git/packed-refs'
    ),
    "packed refs with another commit behind a tag": Plant(
        'sed -i "s/^^.*/^$(git rev-parse feature)/" .git/packed-refs',
        "git tag -am v2 v2; git pack-refs --all",
        word="v2",
    ),
    "packed refs that take a commit for a tag": Plant(
        'sed -i "/refs.tags.v1/a ^$(git rev-parse feature)" .git/packed-refs',
        "git pack-refs --all",
        word="v1",
    ),
    "packed refs that take a tag for a commit": Plant(
        'sed -i "/^^/d" .git/packed-refs', "git tag -am v2 v2; git pack-refs --all", word="v2"
    ),
    "packed refs that are a pipe": Plant("rm .git/packed-refs; mkfifo .git/packed-refs"),
    "packed refs that are a link": Plant(
        "mv .git/packed-refs refs; ln -s ../refs .git/packed-refs"
    ),
    "a stash without its list": Plant(
        "git update-ref refs/stash main", "git stash clear", word="refs/stash"
    ),
    "another stash than its list has": Plant(
        "git rev-parse main > .git/refs/stash", word="refs/stash"
    ),
    "a list of stashes with another name for one": Plant(
        "sed -i s/try/evil/ .git/logs/refs/stash", word="refs/stash"
    ),
    "a list of stashes without a stash": Plant(
        "cp .git/logs/refs/heads/main .git/logs/refs/stash",
        "git stash clear",
        word="refs/stash",
    ),
    "refs in tables": Plant("mkdir .git/reftable; echo x > .git/reftable/tables.list"),
    "an index of nothing": Plant("echo garbage > .git/index"),
    "the solution of a conflict": Plant(
        f"mkdir -p .git/rr-cache/{40 * 'a'}; echo x > .git/rr-cache/{40 * 'a'}/postimage"
    ),
    "a HEAD that is a tag": Plant("git symbolic-ref HEAD refs/tags/v1"),
    "a HEAD that git reads in another way": Plant("echo 'ref:  refs/heads/feature' > .git/HEAD"),
    "a worktree that lies elsewhere": Plant("echo /etc/.git > .git/worktrees/wt/gitdir", WORKTREE),
    "a worktree of no folder": Plant(
        "mkdir .git/worktrees; cd .git/worktrees; mkdir x; echo ../.. > x/commondir;"
        " cp ../HEAD x; mkdir -p ../../wt; echo $(realpath ../../wt)/.git > x/gitdir",
        word="x a worktree",
    ),
    "a worktree that says nothing of its folder": Plant(
        "mkdir -p .git/worktrees/x; cp .git/HEAD .git/worktrees/x; cd .git/worktrees/x;"
        " echo ../.. > commondir",
        word="x a worktree",
    ),
    "a worktree with the folder of another": Plant(
        "cp -r .git/worktrees/wt .git/worktrees/x", WORKTREE, word="x a worktree"
    ),
    "a plan that moves a tag": Plant(
        "mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name;"
        " git rev-parse main | tee onto > orig-head; touch interactive done;"
        " echo noop > git-rebase-todo; echo refs/tags/v1 > update-refs;"
        " git rev-parse v1 main >> update-refs"
    ),
    "a plan that runs a program": Plant(
        "mkdir .git/rebase-merge; cd .git/rebase-merge; echo refs/heads/main > head-name;"
        " git rev-parse main | tee onto > orig-head; touch interactive done;"
        " echo 'exec ./evil.sh' > git-rebase-todo"
    ),
    "an old remote": Plant(
        "mkdir -p .git/remotes; echo 'URL: ext::./evil.sh' > .git/remotes/there"
    ),
    "an old branch": Plant("mkdir -p .git/branches; echo 'ext::./evil.sh' > .git/branches/there"),
    "a way to a repository in a plain folder": Plant(
        f"{FAKE} > fake/config; mkdir sub; echo 'gitdir: ../fake' > sub/.git"
    ),
    "a way out of the workspace": Plant("mkdir sub; echo 'gitdir: /tmp/evil' > sub/.git"),
    "a way to a repository that ends early": Plant(
        f"{FAKE} > fake/config; mkdir sub;"
        r" printf 'gitdir: ../fake\0/../../.git/worktrees/wt\n' > sub/.git",
        WORKTREE,
    ),
    "a way to a part of another repository": Plant(
        "mkdir sub; echo 'gitdir: ../../other/.git/modules/x' > sub/.git"
    ),
    "a bare repository in two folders": Plant(
        "mkdir -p fake common/objects common/refs; echo 'ref: refs/heads/main' > fake/HEAD;"
        f" {FSMONITOR} > common/config; echo ../common > fake/commondir"
    ),
    "a bare repository in a plain folder": Plant(f"{FAKE} > fake/config"),
    "a repository that is a link": Plant("mv .git real; ln -s real .git"),
    "a lock that stays": Plant("touch .git/refs/heads/main.lock"),
    "a folder that git does not know": Plant("mkdir .git/lfs; echo x > .git/lfs/config"),
}


async def plant(agent: Agent, root: Path, line: str) -> tuple[Rehearsed, list[GitNote]]:
    """Rehearse it, and tell the notes that are more than a change; what is refused stays undone."""
    before = snapshot(root)

    call, rehearsed = await agent.rehearse(as_same(f"{PROGRAM}{line}"))

    assert rehearsed.outcome.exit_code == 0, rehearsed.outcome.stderr.decode()
    notes = [one for one in rehearsed.effects.git.notes if one.weight < GitWeight.CHANGE]
    if not rehearsed.is_complete or any(one.weight is GitWeight.REFUSED for one in notes):
        with pytest.raises(PathValidationError):
            await agent.kept.apply(call)
        assert snapshot(root) == before
    return rehearsed, notes


@pytest.mark.parametrize("name", SETTINGS)
async def test_a_setting_that_could_mislead_git_is_refused_or_shown(
    agent: Agent, root: Path, template: Path, name: str
) -> None:
    copy_of(template, root)

    rehearsed, notes = await plant(agent, root, f"git config {name} '{SETTINGS[name]}'")

    told = [note.words.lower() for note in notes]
    assert not rehearsed.is_complete or any(name.lower() in words for words in told), told


@pytest.mark.parametrize("name", PLANTS)
async def test_what_is_planted_below_git_is_refused_or_shown(
    agent: Agent, root: Path, template: Path, name: str
) -> None:
    line, setup, word = PLANTS[name]
    copy_of(template, root)
    run(setup, root)

    rehearsed, notes = await plant(agent, root, line)

    assert not rehearsed.is_complete or any(word in note.words for note in notes), notes


async def test_a_file_that_is_not_what_its_name_in_git_says_is_never_taken_in(
    agent: Agent, root: Path, template: Path
) -> None:
    """The commit has a blob whose name is the hash of other content."""
    copy_of(template, root)
    before = snapshot(root)
    call, rehearsed = await agent.rehearse(
        as_same(
            "set -e; object() { echo .git/objects/${1:0:2}/${1:2}; };"
            " good=$(echo good | git hash-object -w --stdin);"
            " evil=$(echo evil | git hash-object -w --stdin);"
            " cp -f $(object $evil) $(object $good);"
            " git update-index --add --cacheinfo 100644,$good,good.txt;"
            " git commit -qm Good"
        )
    )
    assert rehearsed.outcome.exit_code == 0, rehearsed.outcome.stderr.decode()

    with pytest.raises(ToolError):
        await agent.kept.apply(call)

    assert snapshot(root) == before
    assert "Good" not in git(root, "log", "--all", "--format=%s")
