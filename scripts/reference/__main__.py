"""`make reference`: write every page anew."""

from scripts.reference.pages import PAGES, ROOT


def main() -> None:
    for name, make in PAGES.items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(make(), encoding="utf-8")
        print(name)


main()
