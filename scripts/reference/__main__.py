"""`make reference`: write every generated page. `--check` only compares them."""

import sys

from scripts.reference.pages import PAGES, ROOT


def write() -> None:
    for name, make in PAGES.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8")
        print(name)


def check() -> int:
    stale = [name for name, make in PAGES.items() if (ROOT / name).read_text("utf-8") != make()]
    for name in stale:
        print(f"{name} is out of date: run `make reference`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    write()
