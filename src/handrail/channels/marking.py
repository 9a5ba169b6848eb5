"""What stands out in evidence: the words that a diff changes, and the parts of a plan.

The text is shown whole and in its order; only its look is made here.
"""

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

_LABELLED = re.compile(r"(runs|script|pinned|unpinned|requires|remote|account|box) +")
_WORDS = re.compile(r"^.|\w+|\s+|[^\w\s]")
_LABEL_STYLE = {
    "runs": "bold",
    "script": "bold",
    "pinned": "dim",
    "unpinned": "yellow",
    "requires": "dim",
    "remote": "bold",
    "account": "bold",
    "box": "dim",
}


def mark_evidence(lines: Sequence[str]) -> list[Text]:
    """Each line of a diff or a plan, in its look. Any other text stays plain."""
    is_diff = lines[0].startswith("--- ") and len(lines) > 1 and lines[1].startswith("+++ ")
    return [*_mark_diff(lines)] if is_diff else [*map(_mark_plan, lines)]


def _mark_diff(lines: Sequence[str]) -> Iterator[Text]:
    start = 0
    while start < len(lines):
        gone = _run(lines, start, "-")
        come = _run(lines, start + gone, "+")
        if start < 2 or not gone + come:
            yield Text(lines[start], _look(lines[start], heading=start < 2))
            start += 1
            continue
        old, young = lines[start : start + gone], lines[start + gone : start + gone + come]
        # As many lines that go as come belong together, each pair compared word by word.
        marks = [_changed(*pair) for pair in zip(old, young, strict=False)] if gone == come else []
        for number, line in enumerate(old):
            yield _marked(line, "red", [mark[0] for mark in marks[number : number + 1]])
        for number, line in enumerate(young):
            yield _marked(line, "green", [mark[1] for mark in marks[number : number + 1]])
        start += gone + come


def _run(lines: Sequence[str], start: int, sign: str) -> int:
    length = 0
    while start + length < len(lines) and lines[start + length].startswith(sign):
        length += 1
    return length


def _look(line: str, *, heading: bool) -> str:
    """The look of a line that is not changed; notes of what is not shown stand out."""
    if heading or line.startswith(("@@", "\\")):
        return "dim"
    return "yellow" if line.startswith("[") else ""


def _marked(line: str, style: str, marks: list[tuple[int, int]]) -> Text:
    text = Text(line, style)
    for start, end in marks:
        text.stylize("reverse", start, end)
    return text


def _changed(old: str, young: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """From the first word in which two lines differ to the last, in each of them.

    What lies between is not compared any further: that would take as long as somebody else wants.
    """
    left, right = _WORDS.findall(old), _WORDS.findall(young)
    fewest = min(len(left), len(right))
    # The sign that each begins with is no word of it.
    before, behind = 1, 0
    while before < fewest and left[before] == right[before]:
        before += 1
    while behind < fewest - before and left[-1 - behind] == right[-1 - behind]:
        behind += 1
    if before == 1 and behind == 0:
        return (0, 0), (0, 0)  # All is new: nothing in it stands out.
    start, tail = sum(map(len, left[:before])), sum(map(len, left[len(left) - behind :]))
    return (start, len(old) - tail), (start, len(young) - tail)


def _mark_plan(line: str) -> Text:
    text = Text(line)
    if (label := _LABELLED.match(line)) is None:
        return text
    text.stylize(_LABEL_STYLE[label[1]])
    text.stylize("dim", 0, len(label[1]))
    if label[1] == "runs":
        words = list(re.finditer(r"\S+", line[label.end() :]))
        for number, word in enumerate(words):
            style = "cyan" if number == 0 else "yellow" if word[0].startswith("-") else ""
            text.stylize(style, label.end() + word.start(), label.end() + word.end())
    return text
