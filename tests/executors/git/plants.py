"""Repositories that would have git run a program, each by another of its settings.

A plant is a few lines of shell, run in a repository that is in the middle of some work: `f.txt` is
changed and not committed, `main` and `other` have changed `h.txt` each in its own way. `$RUN` is
the planted program, which tells of itself and says again what it reads; `$TOLD` says nothing.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

MARK = "planted-program-ran"

COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "status with a pager": ("-p", "status"),
    "diff": ("diff",),
    "log": ("log", "-1"),
    "log with changes": ("log", "-p"),
    "show": ("show",),
    "branch": ("branch",),
    "add": ("add", "f.txt"),
    "commit": ("commit", "-am", "x"),
    "checkout": ("checkout", "-f", "other"),
    "fetch": ("fetch", "origin"),
    "merge": ("merge", "other"),
}


@dataclass(frozen=True, slots=True)
class Plant:
    """How it is planted, and with which command plain git is seen to run it.

    That is one of the twelve, or words of its own where none of them does. Some are `refused` with
    these words, before git is run at all.
    """

    lines: str
    seen_with: str | tuple[str, ...] = "status"
    folder: str = "."
    at_terminal: bool = False
    stdin: bytes = b""
    refused: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        return COMMANDS[self.seen_with] if isinstance(self.seen_with, str) else self.seen_with


_HOOKS = (
    "pre-commit post-index-change post-checkout reference-transaction prepare-commit-msg"
    " commit-msg post-commit pre-push pre-auto-gc post-merge pre-merge-commit"
)
_SIGNED = (
    r"printf 'tree %s\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n"
    r"gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nm\n'"
    r" $(git rev-parse 'HEAD^{tree}') | git hash-object -t commit -w --stdin > .git/signed"
    r" && mv .git/signed .git/refs/heads/main"
)
_HALF = (
    "git config core.repositoryformatversion 1 && git config extensions.partialClone origin"
    " && git config remote.origin.url $ELSEWHERE && git config remote.origin.promisor true"
    " && git config remote.origin.uploadpack $TOLD && o=$(git rev-parse HEAD:f.txt)"
    " && rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-)"
)
_OTHER_HALF = (
    "git clone -q --bare . $ELSEWHERE/alt.git && git clone -q . $ELSEWHERE/new"
    " && git -C $ELSEWHERE/new commit -q --allow-empty -m new"
    " && echo $ELSEWHERE/alt.git/objects > .git/objects/info/alternates"
    " && git remote add origin $ELSEWHERE/new"
)

PLANTS: dict[str, Plant] = {
    "fsmonitor": Plant("git config core.fsmonitor $TOLD"),
    "clean filter": Plant(
        "git config filter.x.clean $RUN && echo '*.txt filter=x' > .gitattributes"
    ),
    "process filter": Plant(
        "git config filter.x.process $TOLD && echo '*.txt filter=x' > .gitattributes"
    ),
    "filter by hidden attributes": Plant(
        "git config filter.x.clean $RUN && echo '*.txt filter=x' > .git/info/attributes"
    ),
    "textconv": Plant(
        "git config diff.x.textconv $RUN && echo '* diff=x' > .gitattributes", "diff"
    ),
    "diff driver": Plant(
        "git config diff.x.command $TOLD && echo '* diff=x' > .gitattributes", "diff"
    ),
    "external diff": Plant("git config diff.external $TOLD", "diff"),
    "pager": Plant("git config core.pager $RUN", "log", at_terminal=True),
    "pager of one command": Plant("git config pager.status $RUN", at_terminal=True),
    "hooks elsewhere": Plant(
        f"mkdir hk && for h in {_HOOKS}; do cp $TOLD hk/$h; done && git config core.hooksPath hk"
    ),
    "hooks": Plant(f"mkdir -p .git/hooks && for h in {_HOOKS}; do cp $TOLD .git/hooks/$h; done"),
    "signatures shown": Plant(
        f"git config log.showSignature true && git config gpg.program $TOLD && {_SIGNED}", "log"
    ),
    "commits signed": Plant(
        "git config commit.gpgSign true && git config gpg.program $TOLD", "commit"
    ),
    "editor": Plant("git config core.editor $TOLD", ("commit", "-a")),
    "ssh": Plant(
        "git config core.sshCommand $TOLD && git remote add origin ssh://127.0.0.1/x", "fetch"
    ),
    "upload-pack": Plant(
        "git config remote.origin.url $ELSEWHERE && git config remote.origin.uploadpack $TOLD",
        "fetch",
    ),
    "ext transport": Plant(
        'git config protocol.ext.allow always && git remote add origin "ext::$TOLD"', "fetch"
    ),
    "address turned into a program": Plant(
        'git config protocol.ext.allow always && git config "url.ext::$TOLD .insteadOf" https://'
        " && git remote add origin https://127.0.0.1/x",
        "fetch",
    ),
    "foreign transport": Plant(
        "git config protocol.ext.allow always && git config remote.origin.vcs ext"
        " && git config remote.origin.url $TOLD",
        "fetch",
    ),
    "credential helper": Plant(
        'git config credential.helper "!$TOLD" && git remote add origin http://127.0.0.1:9/x',
        ("credential", "fill"),
        stdin=b"url=http://127.0.0.1:9/x\n",
    ),
    "alias": Plant('git config alias.status "!$TOLD" && git config alias.st "!$TOLD"', ("st",)),
    "missing objects": Plant(_HALF, "diff"),
    "included settings": Plant(
        r"""printf '[core]\n fsmonitor = %s\n' $TOLD > .git/inc && git config include.path inc""",
        refused="includes settings from another file (inc)",
    ),
    "settings of a worktree": Plant(
        "git config extensions.worktreeConfig true"
        r" && printf '[core]\n fsmonitor = %s\n' $TOLD > .git/config.worktree"
    ),
    "alternate refs": Plant(
        f"git config core.alternateRefsCommand $TOLD && {_OTHER_HALF}", "fetch"
    ),
    "merge driver": Plant(
        "git config merge.x.driver $TOLD && echo '* merge=x' > .git/info/attributes", "merge"
    ),
    "another repository": Plant(
        "mv .git evil && git --git-dir=evil config core.fsmonitor $TOLD"
        " && echo 'gitdir: evil' > .git",
        refused="this repository is kept in evil",
    ),
    "embedded bare repository": Plant(
        "mkdir sub && cd sub && git init -q --bare . && git config core.fsmonitor $TOLD"
        " && git config core.worktree . && git config core.bare false",
        folder="sub",
    ),
    "submodule": Plant(
        "git init -q s && git -C s commit -q --allow-empty -m x && git add s 2>/dev/null"
        " && git -C s config core.fsmonitor $TOLD"
    ),
}

_SUBMODULE = (
    "git init -q --template= s && cd s && echo a > a.txt && git add . && git commit -qm x"
    " && git config filter.y.clean $RUN && echo '* filter=y' > .gitattributes && echo b > a.txt"
)
_PLAN = "rebase.instructionFormat '%s%nexec '$TOLD"
FURTHER: dict[str, Plant] = {
    "format of a plan": Plant(
        f"git commit -qam wip && git config {_PLAN}", ("rebase", "-f", "HEAD~1")
    ),
    "format of a plan in a submodule": Plant(
        "git init -q --template= s && (cd s && git commit -q --allow-empty -m x && git branch t"
        " && echo m > m && git add m && git commit -qm m) && git add s 2>/dev/null"
        " && git commit -qm s && (cd s && git checkout -q t && echo t > t && git add t"
        f" && git commit -qm t && git config {_PLAN})"
        " && git config submodule.s.url ./s && git config submodule.s.active true"
        " && git config -f .gitmodules submodule.s.path s"
        " && git config -f .gitmodules submodule.s.url ./s"
        " && git config -f .gitmodules submodule.s.update rebase"
        " && git submodule --quiet absorbgitdirs s",
        ("submodule", "update"),
    ),
    "filter in settings too large for a copy": Plant(
        "git config filter.x.clean $RUN && echo '*.txt filter=x' > .gitattributes"
        " && yes '# nothing is said here' | head -n 60000 >> .git/config",
        "add",
        refused="cannot be shown to git without the passwords in it",
    ),
    "filter with the name of a secret, behind another section": Plant(
        """printf '[core] [filter "https://x@y"] clean = %s\n' $RUN >> .git/config"""
        " && echo '*.txt filter=https://x@y' > .gitattributes",
        "add",
    ),
    "filter with the name of a secret, behind a broken line": Plant(
        """printf '[core]\nx = a\\\n\n[filter "https://x@y"]\nclean = %s\n' $RUN >> .git/config"""
        " && echo '*.txt filter=https://x@y' > .gitattributes",
        "add",
    ),
    "smudge filter": Plant(
        "git config filter.x.smudge $RUN && echo '*.txt filter=x' > .gitattributes", "checkout"
    ),
    "filter with dots in its name": Plant(
        "git config filter.x.y.z.clean $RUN && echo '*.txt filter=x.y.z' > .gitattributes"
    ),
    "filter without a name": Plant(
        "git config filter..clean $RUN && echo '*.txt filter=' > .gitattributes"
    ),
    "smudge filter without a name": Plant(
        "git config filter..smudge $RUN && echo '*.txt filter=' > .gitattributes", "checkout"
    ),
    "filter without a name, in a section of the old kind": Plant(
        r"printf '[filter.]\nclean = %s\n' $RUN >> .git/config"
        " && echo '*.txt filter=' > .gitattributes"
    ),
    "merge driver without a name": Plant(
        "git config merge..driver $TOLD && echo '* merge=' > .git/info/attributes", "merge"
    ),
    "textconv without a name": Plant(
        "git config diff..textconv $RUN && echo '* diff=' > .gitattributes", "diff"
    ),
    "required filter": Plant(
        "git config filter.x.clean $RUN && git config filter.x.required true"
        " && echo '*.txt filter=x' > .gitattributes"
    ),
    "filter of a submodule": Plant(
        f"({_SUBMODULE}) && git add s 2>/dev/null", ("status", "--ignore-submodules=none")
    ),
    "filter of a submodule elsewhere": Plant(
        f"({_SUBMODULE} && mv .git ../inside && echo 'gitdir: ../inside' > .git)"
        " && git add s 2>/dev/null",
        ("diff", "--ignore-submodules=none"),
    ),
    "textconv of a commit": Plant(
        "git config diff.x.textconv $RUN && echo '* diff=x' > .gitattributes",
        ("commit", "--dry-run", "-v", "-a"),
    ),
    "archive": Plant("git config tar.x.command $RUN", ("archive", "--format=x", "HEAD")),
    "trailer": Plant("git config trailer.x.command $RUN", ("commit", "-am", "x", "--trailer", "x")),
    "update of a submodule": Plant(
        "git init -q --template= s && git -C s commit -q --allow-empty -m x"
        " && git add s 2>/dev/null && git commit -qm s && git -C s commit -q --allow-empty -m y"
        " && git config submodule.s.url ./s && git config submodule.s.active true"
        " && git config -f .gitmodules submodule.s.path s"
        " && git config -f .gitmodules submodule.s.url ./s"
        ' && git config submodule.s.update "!$TOLD"',
        ("submodule", "update"),
    ),
}

_START = """
git init -q -b main --template= . && mkdir -p .git/info
echo a > f.txt && echo b > g.bin && echo same > h.txt
git add f.txt g.bin h.txt && git commit -qm first
git checkout -qb other && echo theirs > h.txt && git commit -qam other
git checkout -q main && echo ours > h.txt && git commit -qam ours
echo c >> f.txt && echo d >> g.bin
touch -d 2001-01-01 h.txt
"""
PLAIN = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nowhere",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@b.c" for who in ("AUTHOR", "COMMITTER")},
}


class PlantedRepository:
    """A repository at `root`, which can be put back to how it was planted."""

    def __init__(self, root: Path, kept: Path, plant: Plant):
        self.root = root
        self._kept = kept
        self._plant = plant
        self._log = root / "planted.log"
        environment = {**PLAIN, "ELSEWHERE": str(root / "elsewhere")}
        (root / "elsewhere").mkdir()
        for name, more in {"RUN": "cat", "TOLD": "exit 0"}.items():
            program = root / name.lower()
            program.write_text(f"#!/bin/sh\necho {MARK} | tee -a {self._log} >&2\n{more}\n")
            program.chmod(0o755)
            environment[name] = str(program)
        for lines in (_START, plant.lines):
            subprocess.run(["sh", "-ec", lines], cwd=root, env=environment, check=True)
        self._log.unlink(missing_ok=True)
        shutil.copytree(root, kept, symlinks=True)

    def put_back(self) -> None:
        """As it was planted, with nothing run yet."""
        for path in self.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self._kept, self.root, symlinks=True, dirs_exist_ok=True)

    def has_run(self) -> bool:
        """Whether the planted program has left its mark."""
        return self._log.exists()

    def run_plainly(self, words: tuple[str, ...]) -> None:
        """git as it is, in the open, and by a terminal where that matters."""
        terminal = os.openpty() if self._plant.at_terminal else ()
        try:
            subprocess.run(
                ["git", *words],
                cwd=self.root / self._plant.folder,
                env=PLAIN,
                input=self._plant.stdin,
                stdout=terminal[1] if terminal else subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
                timeout=30,
            )
        finally:
            for fd in terminal:
                os.close(fd)
