"""Markdown as this reference needs it: the same for every reader, terminal and machine."""

from collections.abc import Iterable, Sequence

_NOTICE = "<!-- Made by `make reference` from the code; change the code, not this page. -->"


def page(title: str, *parts: str) -> str:
    return "\n\n".join([_NOTICE, f"# {title}", *filter(None, parts)]) + "\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without the columns in which nothing stands; no table where there is no row."""
    lines = [tuple(map(_cell, row)) for row in rows]
    filled = [place for place in range(len(header)) if any(line[place] for line in lines)]
    shown = [header, ["---"] * len(header), *lines] if lines else []
    return "\n".join(f"| {' | '.join(line[place] for place in filled)} |" for line in shown)


def code(text: object) -> str:
    """Text as it is typed; one that holds a backtick itself is put between two."""
    words = str(text)
    return f"`` {words} ``" if "`" in words else f"`{words}`"


def codes(texts: Iterable[object]) -> str:
    return ", ".join(map(code, texts))


def lines(parts: Iterable[str]) -> str:
    """Several lines in one cell."""
    return "<br>".join(filter(None, parts))


def paragraphs(text: str) -> str:
    """A docstring as prose: its lines end where a paragraph does."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def sentence(text: str) -> str:
    return text if text.endswith((".", "…")) else f"{text}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
