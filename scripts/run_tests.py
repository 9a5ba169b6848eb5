"""Run pytest, and the few tests that failed once more, each alone.

The tests start hundreds of real processes on few cores, so now and then one waits too long. A test
that fails alone as well has failed. One that passes alone is named, because it is worth mending.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
MOST = 3
_TESTS_FAILED = 1


def main(words: list[str]) -> int:
    code = _pytest("--cache-clear", *words)
    if code != _TESTS_FAILED or not FAILED.exists():
        return code
    failed = sorted(json.loads(FAILED.read_text("utf-8")))
    if len(failed) > MOST:
        return code
    print(f"\n{len(failed)} failed beside others; now alone.", flush=True)
    if again := _pytest("-p", "no:cacheprovider", *failed):
        return again
    print("\nThese failed beside others and passed alone:", *failed, sep="\n  ")
    return 0


def _pytest(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
