"""Print the tests that mirror the files which differ from a commit: for `make changed`.

A module without a test of its own has those of its folder.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, TESTS = Path("src/handrail"), Path("tests")
# What is not Python, by the folder or file that it begins with.
OTHERS = {
    "web/": "tests/web",
    "docs/": "tests/test_docs.py",
    "README.md": "tests/test_docs.py",
    "benchmarks/": "tests/test_benchmarks.py",
}


def main(base: str) -> None:
    found = sorted({one for path in changed(base) for one in mirror(path)})
    if not found:
        sys.exit(f"nothing that has tests differs from {base}; name another commit with BASE=main")
    print(*found)


def changed(base: str) -> list[Path]:
    told = [*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")]
    return [Path(line) for line in told]


def mirror(path: Path) -> Iterator[str]:
    if path.is_relative_to(TESTS):
        is_test = path.name.startswith("test_") and (ROOT / path).exists()
        yield from _existing([path] if is_test else [path.parent])
    elif path.is_relative_to(SOURCE):
        folder = TESTS / path.relative_to(SOURCE).parent
        own = folder / f"test_{path.name}"
        yield from _existing([own] if (ROOT / own).exists() else [folder])
    else:
        yield from (there for begin, there in OTHERS.items() if str(path).startswith(begin))


def _existing(paths: Iterable[Path]) -> Iterator[str]:
    # The folder of all tests mirrors only the package itself.
    return (str(path) for path in paths if path != TESTS and (ROOT / path).exists())


def _git(*words: str) -> list[str]:
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["HEAD"]))
