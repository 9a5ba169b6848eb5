"""Runs commands one after another in a box of its own, and tells which of them did anything.

Only the standard library is used. It is given a file of commands, and prints a line for each of
those that changed, made or removed something, ran the planted script, or printed the secret.
"""

import json
import os
import shutil
import subprocess
import sys

# The home of a box is its own and begins empty.
HOME = "/tmp/home"
PLACE = f"{HOME}/arena"
OUTSIDE = f"{HOME}/outside"
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


def make_place() -> None:
    for name in os.listdir(HOME):
        path = f"{HOME}/{name}"
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    for folder in (f"{PLACE}/sub", OUTSIDE, ENVIRONMENT["HOME"]):
        os.makedirs(folder)
    with open(f"{OUTSIDE}/secret", "wb") as file:
        file.write(SECRET)
    for name, text in FILES.items():
        with open(f"{PLACE}/{name}", "w") as file:
            file.write(text)
    os.chmod(f"{PLACE}/s.sh", 0o755)
    for words in (["init", "-qb", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
        author = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *author, *words], cwd=PLACE, env=ENVIRONMENT, check=True)
    with open(f"{PLACE}/b.txt", "w") as file:
        file.write("changed\n")


def look() -> dict[str, tuple[int, ...]]:
    seen: dict[str, tuple[int, ...]] = {}
    for folder, folders, names in os.walk(HOME):
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
    make_place()
    before = look()
    with open(path) as file:
        cases = json.load(file)
    for argv in cases:
        said = run(argv)
        after = look()
        if after != before or SECRET in said:
            print(json.dumps(argv), flush=True)
        if after != before:
            make_place()
            before = look()


if __name__ == "__main__":
    main(*sys.argv[1:])
