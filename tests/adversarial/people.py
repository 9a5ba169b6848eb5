"""Who attacks: root, and an ordinary user whom nobody has heard of."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.adversarial.arena import OUTSIDE_SECRET

REPOSITORY = Path(__file__).parent.parent.parent
PATIENCE_SECONDS = 900
_IS_NEW_ENOUGH = "import sys; sys.exit(sys.version_info < (3, 11))"


@dataclass(frozen=True)
class Person:
    """`folder` is theirs; `code` they may read, wherever the project lies."""

    folder: Path
    code: Path
    python: str
    uid: int | None = None

    @property
    def traits(self) -> set[str]:
        """What they are, as the tables of attacks say it."""
        uid = os.geteuid() if self.uid is None else self.uid
        named = uid in {entry.pw_uid for entry in pwd.getpwall()}
        return {"ordinary" if uid else "root", *(["named"] if named else [])}

    def run(self, program: str, *words: str | Path) -> str:
        """What a program beside this one prints when they run it; it must not fail."""
        path = self.code / "tests" / "adversarial" / program
        done = self._run([str(path), *map(str, words)])
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def can_run_python(self) -> bool:
        return self._run(["-c", _IS_NEW_ENOUGH]).returncode == 0

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, *words],
            cwd=self.folder,
            env={
                "PATH": os.defpath,
                "HOME": str(self.folder),
                "PYTHONPATH": f"{self.code / 'src'}:{self.code}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "SECRET_TOKEN": OUTSIDE_SECRET.decode(),
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            user=self.uid,
            group=self.uid,
            extra_groups=None if self.uid is None else [],
        )


@contextmanager
def whoever_runs_the_tests() -> Generator[Person]:
    with tempfile.TemporaryDirectory(prefix="handrail-attack-") as folder:
        yield Person(Path(folder), REPOSITORY, sys.executable)


@contextmanager
def somebody_else() -> Generator[Person | None]:
    """Only root can become somebody else; None where there is no Python for them to run."""
    uid = _free_number()
    with tempfile.TemporaryDirectory(prefix="handrail-attack-") as made:
        place = Path(made)
        place.chmod(0o755)
        for part in ("src/handrail", "tests/adversarial"):
            shutil.copytree(REPOSITORY / part, place / "code" / part, ignore=_not_needed)
        (place / "theirs").mkdir()
        os.chown(place / "theirs", uid, uid)
        candidates = (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3")
        people = [Person(place / "theirs", place / "code", python, uid) for python in candidates]
        yield next((person for person in people if _is_able(person)), None)


def _is_able(person: Person) -> bool:
    try:
        return person.can_run_python()
    except OSError:
        return False


def _not_needed(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]


def _free_number() -> int:
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    return next(number for number in range(47_110, 60_000) if number not in taken)
