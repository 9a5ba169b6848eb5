"""Every link in every document leads to something that is there, down to the heading."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "docs" / "README.md"

_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
_CODE = re.compile(r"`[^`\n]*`")
_LINKS = (
    re.compile(r"\]\(\s*<?([^)\s>]+)"),  # [words](target), ![words](target)
    re.compile(r"^\[[^\]]+\]:\s*(\S+)", re.M),  # [words]: target
    re.compile(r"\b(?:href|src)=\"([^\"]+)\""),  # <img src="target">
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def find_documents() -> Iterator[Path]:
    for folder, below, files in os.walk(ROOT):
        below[:] = [name for name in below if not name.startswith(".") and name != "node_modules"]
        yield from (Path(folder, name) for name in files if name.endswith(".md"))


DOCUMENTS = sorted(find_documents())


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def links_of(text: str) -> list[str]:
    prose = _CODE.sub("", _FENCED.sub("", text))
    found = [link for kind in _LINKS for link in kind.findall(prose)]
    return [link for link in found if not _ELSEWHERE.match(link)]


@cache
def anchors_of(document: Path) -> frozenset[str]:
    """What headings are called in an address: as GitHub does it."""
    prose = _FENCED.sub("", document.read_text(encoding="utf-8"))
    anchors: list[str] = []
    seen: Counter[str] = Counter()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        anchors.append(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(anchors)


def find_trouble(link: str, document: Path, root: Path = ROOT) -> str | None:
    """Why a link leads nowhere, or None."""
    place, _, anchor = link.partition("#")
    target = (document.parent / unquote(place)).resolve() if place else document
    if not target.is_relative_to(root):
        return f"{link} leads out of the repository"
    if not target.exists():
        return f"{link} does not exist"
    if anchor and target.suffix == ".md" and anchor not in anchors_of(target):
        return f"{link}: there is no such heading"
    return None


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    links = links_of(document.read_text(encoding="utf-8"))
    found = [find_trouble(link, document) for link in links]
    assert [trouble for trouble in found if trouble is not None] == []


def test_the_index_lists_every_page() -> None:
    listed = {
        (INDEX.parent / link.partition("#")[0]).resolve() for link in links_of(INDEX.read_text())
    }
    pages = {path for path in DOCUMENTS if path.is_relative_to(INDEX.parent)} - {INDEX}
    assert {name_of(page) for page in pages - listed} == set()


# What finds the links finds them all


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see [a](a.md) and [b](b.md#c)", ["a.md", "b.md#c"]),
        ("![words over\ntwo lines](a.svg)", ["a.svg"]),
        ("[a]\n\n[a]: docs/a.md\n", ["docs/a.md"]),
        ('<img src="a.svg" alt="x">', ["a.svg"]),
        ("[a](https://example.org/a.md) and [m](mailto:a@example.org)", []),
        ("`[a](a.md)` is how it is written\n```\n[b](b.md)\n```\n", []),
    ],
)
def test_links_are_found(text: str, links: list[str]) -> None:
    assert links_of(text) == links


def test_headings_are_called_as_github_calls_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Ask, and `wait`\n## A [link](b.md)\n## Again\n## Again\n```\n# no\n```\n")

    assert anchors_of(page) == {"ask-and-wait", "a-link", "again", "again-1"}


@pytest.mark.parametrize("link", ["none.md", "page.md#none", "#none", "../../outside.md"])
def test_a_link_that_leads_nowhere_is_noticed(link: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Here\n")

    assert find_trouble(link, page, tmp_path) is not None
    assert find_trouble("page.md#here", page, tmp_path) is None
