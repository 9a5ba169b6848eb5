"""What a commit would record, and a push could send, as the repository stands: no word says it."""

import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.sight import SeenRecord
from handrail.core.stage import Stage
from handrail.core.visible import cut, visible
from handrail.executors.git.words import GIT, action_in, words_of_git

_MOST_NAMES = 12
_MOST_COMMITS = 8
_MOST_CHARS = 120
_MOST_ERROR_CHARS = 200
_PLAIN = ("--no-renames", "--no-ext-diff", "--no-textconv")

# Runs a command in the box in which nothing can be changed.
Look = Callable[[Stage], Awaitable[CommandOutcome]]


class Recorder:
    def __init__(self, look: Look):
        self._look = look

    async def find(self, stage: Stage) -> SeenRecord | None:
        """None for what neither records nor sends anything."""
        words = words_of_git(stage)
        action = "" if words is None else action_in(words)
        try:
            if words is not None and action == "commit":
                return await self._changes(stage.folder)
            return await self._branches(stage.folder) if action == "push" else None
        except CommandExecutionError as error:
            what = f"the input of git {action}"
            return SeenRecord(what, f"{what} cannot be read before the call: {error.message}")

    async def _changes(self, folder: str) -> SeenRecord:
        """All changes since the last commit: without its flags, any of them may be recorded."""
        staged = await self._ask(["diff", "--cached", "--name-status", "-z", *_PLAIN], folder)
        changed = await self._ask(["diff", "--name-status", "-z", *_PLAIN], folder)
        marks = [
            await self._ask(["diff", "--cached", "--raw", "--no-abbrev", "-z", *_PLAIN], folder),
            await self._ask(["diff", "--binary", *_PLAIN], folder),
        ]
        with suppress(CommandExecutionError):
            # There need not be a commit yet.
            marks.append(await self._ask(["rev-parse", "-q", "--verify", "HEAD"], folder))
        told = f"staged: {_names(staged)}; not staged: {_names(changed)}"
        return SeenRecord("the changes since the last commit", told, _mark(marks))

    async def _branches(self, folder: str) -> SeenRecord:
        shape = "--format=%(objectname) %(refname)"
        refs = await self._ask(["for-each-ref", shape, "refs/heads", "refs/tags"], folder)
        head = await self._ask(["log", "-1", "--no-decorate", "--format=%h %s"], folder)
        branch = await self._ask(["branch", "--show-current"], folder)
        where = f"{_word(branch)} is at" if branch.strip() else "HEAD is at"
        words = ["log", "--no-decorate", "--format=%h %s", f"--max-count={_MOST_COMMITS + 1}"]
        new = (await self._ask([*words, "HEAD", "--not", "--remotes"], folder)).splitlines()
        told = f"all branches and tags; {where} {_word(head)}"
        if new:
            more = " and more" if len(new) > _MOST_COMMITS else ""
            told += f"; no remote branch has {', '.join(map(_word, new[:_MOST_COMMITS]))}{more}"
        return SeenRecord("the branches and tags", told, _mark([refs, branch]))

    async def _ask(self, words: list[str], folder: str) -> bytes:
        """All that git says where nothing can be changed.

        Raises:
            CommandExecutionError: It fails, or says more than is kept.
        """
        stage = Stage((GIT, *words), Profile.READ, folder=folder, programs=(GIT,))
        outcome = await self._look(stage)
        if outcome.ending is Ending.EXITED and not outcome.exit_code and not outcome.stdout_lost:
            return outcome.stdout
        why = visible(outcome.stderr.decode(errors="replace").strip())
        raise CommandExecutionError(cut(why, _MOST_ERROR_CHARS) or "git fails")


def _names(listed: bytes) -> str:
    """Each as git says it, what became of it and its name: `M README.md`."""
    words = [visible(word.decode(errors="replace")) for word in listed.split(b"\0") if word]
    pairs = [" ".join(pair) for pair in zip(words[::2], words[1::2], strict=False)]
    more = len(pairs) - _MOST_NAMES
    told = ", ".join(cut(pair, _MOST_CHARS) for pair in pairs[:_MOST_NAMES])
    return f"{told} and {more:,} more" if more > 0 else told or "nothing"


def _word(said: bytes) -> str:
    return cut(visible(said.decode(errors="replace").strip()), _MOST_CHARS)


def _mark(parts: list[bytes]) -> str:
    digests = [hashlib.sha256(part).hexdigest() for part in parts]
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()
