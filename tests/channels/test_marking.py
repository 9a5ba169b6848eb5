"""What stands out in evidence; nothing of it is lost or moved."""

import pytest
from rich.text import Text

from handrail.channels.marking import mark_evidence

HEAD = ["--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@"]


def marked(text: Text) -> list[str]:
    return [text.plain[span.start : span.end] for span in text.spans if span.style == "reverse"]


def test_of_lines_that_belong_together_the_changed_words_are_marked() -> None:
    *_, gone, come = mark_evidence([*HEAD, "-retries = 3 # few", "+retries = 25 # few"])

    assert (marked(gone), str(gone.style)) == (["3"], "red")
    assert (marked(come), str(come.style)) == (["25"], "green")


@pytest.mark.parametrize(
    "lines",
    [
        ["-one", "+quite another"],
        ["-one two", "+one three", "+one four"],
        ["+one"],
        [" same", "\\ No newline at end of file"],
    ],
)
def test_where_nothing_belongs_together_nothing_is_marked(lines: list[str]) -> None:
    assert [marked(text) for text in mark_evidence([*HEAD, *lines])] == [[]] * (3 + len(lines))


def test_a_line_that_goes_is_no_heading_whatever_it_looks_like() -> None:
    *_, gone = mark_evidence([*HEAD, "--- evil"])

    assert str(gone.style) == "red"


def test_of_a_plan_the_program_and_its_options_stand_out() -> None:
    (runs, bound, other) = mark_evidence(["runs     git push --force", "pinned   x", "as it is"])

    looks = {runs.plain[span.start : span.end]: str(span.style) for span in runs.spans}
    assert looks["git"] == "cyan"
    assert looks["--force"] == "yellow"
    assert [str(span.style) for span in bound.spans] == ["dim", "dim"]
    assert other.spans == []


def test_notes_of_what_is_not_shown_stand_out_and_content_cannot_pass_for_one() -> None:
    *_, note, content = mark_evidence([*HEAD, "[9 added lines not shown]", "+[9 added lines]"])

    assert [str(note.style), str(content.style)] == ["yellow", "green"]
