"""Runs commands one after another in a box of its own, and prints those that had an effect.

Only the standard library is used. It is given a file of commands. An effect is a file that was
changed, made or removed, a run of the planted script, or the secret in the output.
"""

import json
import os
import shutil
import subprocess
import sys

# The home of a box is its own and begins empty.
HOME = "/tmp/home"
PLACE = f"{HOME}/arena"
SECRET = b"TOPSECRET-4711"
SECONDS = 10
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": f"{HOME}/home",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "TERM": "dumb",
}
FILES = {
    "f.txt": "a\nb\n",
    "b.txt": "a\nc\n",
    "list": "f.txt\n",
    "s.sh": "#!/bin/sh\n: > ../ran\ncat\n",
    "big.txt": "".join(f"{number * 7919 % 10007}\n" for number in range(3_000)),
}


def make_place(home: str) -> None:
    """Make a workspace `arena` with a repository, and a secret outside of it."""
    for name in os.listdir(home):
        path = f"{home}/{name}"
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    place = f"{home}/arena"
    for folder in (f"{place}/sub", f"{home}/outside", f"{home}/home"):
        os.makedirs(folder)
    with open(f"{home}/outside/secret", "wb") as file:
        file.write(SECRET)
    for name, text in FILES.items():
        with open(f"{place}/{name}", "w") as file:
            file.write(text)
    os.chmod(f"{place}/s.sh", 0o755)
    settings = {**ENVIRONMENT, "HOME": f"{home}/home"}
    for words in (["init", "-qb", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *author, *words], cwd=place, env=settings, check=True)
    with open(f"{place}/b.txt", "w") as file:
        file.write("changed\n")


def look(home: str) -> dict[str, tuple[int, ...]]:
    """Every file below a folder, with all that a change of it would change."""
    seen: dict[str, tuple[int, ...]] = {}
    for folder, folders, names in os.walk(home):
        for name in (*folders, *names):
            found = os.lstat(f"{folder}/{name}")
            stamp = found.st_mode, found.st_size, found.st_mtime_ns, found.st_nlink
            seen[f"{folder}/{name}"] = stamp
    return seen


def run(argv: list[str]) -> bytes:
    try:
        done = subprocess.run(
            argv,
            cwd=PLACE,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return b""
    return done.stdout


def main(path: str) -> None:
    make_place(HOME)
    before = look(HOME)
    with open(path) as file:
        cases = json.load(file)
    for argv in cases:
        said = run(argv)
        after = look(HOME)
        if after != before or SECRET in said:
            print(json.dumps(argv), flush=True)
        if after != before:
            make_place(HOME)
            before = look(HOME)


if __name__ == "__main__":
    main(*sys.argv[1:])
