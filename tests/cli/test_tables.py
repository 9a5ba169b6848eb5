"""No table cuts a word, be it a path, in a terminal of any width or on the way to a program."""

import io

import pytest
from rich.console import Console

from handrail.cli import output
from handrail.cli.tables import Rows, say_indented

PATH = "/home/ada/.nvm/versions/node/v20.1.0/a-folder-with-a-rather-long-name/bin"
OTHER = "/home/ada/.pyenv/versions/3.13.1/another-folder-with-a-rather-long-name/bin"
PROSE = "what installs packages can reach the hosts that the card named, and no others at all"


class Screen:
    """Somebody's terminal, or a pipe that has no width."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, width: int, *, piped: bool):
        self._stream = io.StringIO()
        console = Console(
            file=self._stream, width=width, force_terminal=not piped, color_system=None
        )
        monkeypatch.setattr(output, "console", console)

    @property
    def lines(self) -> list[str]:
        return self._stream.getvalue().splitlines()


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return Screen(monkeypatch, 80, piped=True)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Screen:
    return Screen(monkeypatch, 80, piped=False)


def print_toolchains() -> None:
    rows = Rows("answer", "kind", "folder", "programs")
    rows.add_row("[green]allowed[/]", "nvm", PATH, f"{PATH}/a\n{PATH}/b")
    rows.add_row("open", "pyenv", OTHER, PROSE)
    rows.print()


def test_a_program_gets_each_row_in_one_line_with_its_columns_in_place(pipe: Screen) -> None:
    print_toolchains()

    width = len(OTHER)
    assert pipe.lines == [
        f"answer   kind   {'folder':{width}}  programs",
        f"allowed  nvm    {PATH:{width}}  {PATH}/a",
        f"{'':{16 + width}}  {PATH}/b",
        f"open     pyenv  {OTHER}  {PROSE}",
    ]


def test_a_terminal_too_narrow_for_the_paths_shows_each_cell_under_its_heading(
    terminal: Screen,
) -> None:
    print_toolchains()

    assert terminal.lines == [
        "answer    allowed",
        "kind      nvm",
        f"folder    {PATH}",
        f"programs  {PATH}/a",
        f"          {PATH}/b",
        "",
        "answer    open",
        "kind      pyenv",
        f"folder    {OTHER}",
        "programs  what installs packages can reach the hosts that the card named, and no",
        "          others at all",
    ]


def test_prose_gives_way_before_names_do(terminal: Screen) -> None:
    rows = Rows("name", "reason", "name too")
    rows.add_row("a-name-of-some-length", PROSE, "another-name-of-some-length")
    rows.print()

    assert max(map(len, terminal.lines)) <= 80
    words = " ".join(terminal.lines).split()
    assert {*PROSE.split(), "a-name-of-some-length", "another-name-of-some-length"} <= {*words}


@pytest.mark.parametrize("width", [30, 50, 80, 120])
def test_no_word_is_cut_at_any_width(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    screen = Screen(monkeypatch, width, piped=False)
    print_toolchains()
    words = " ".join(screen.lines).split()
    assert {PATH, OTHER, f"{PATH}/a", f"{PATH}/b", *PROSE.split()} <= {*words}


def test_without_headings_what_does_not_fit_goes_beneath(terminal: Screen) -> None:
    rows = Rows()
    rows.add_row("✓", "well", "[bold]toolchains[/]", f"in {PATH}\nand elsewhere")
    rows.add_row("✓", "well", "[bold]git[/]", "is there")
    rows.print()

    assert terminal.lines == [
        "✓  well  toolchains",
        f"    in {PATH}",
        "    and elsewhere",
        "✓  well  git  is there",
    ]


def test_numbers_can_end_together(pipe: Screen) -> None:
    rows = Rows(right=(0,))
    rows.add_row("9 kB", "a")
    rows.add_row("10,000 kB", "b")
    rows.print()
    assert pipe.lines == ["     9 kB  a", "10,000 kB  b"]


def test_what_is_said_behind_a_margin_is_not_folded_for_a_program(pipe: Screen) -> None:
    say_indented(f"path={PATH} {PROSE}", 10)
    assert pipe.lines == [f"{'':10}path={PATH} {PROSE}"]


def test_what_is_said_behind_a_margin_stays_behind_it(terminal: Screen) -> None:
    say_indented(f"path={PATH} {PROSE}", 10)
    assert all(line.startswith(" " * 10) and line[10] != " " for line in terminal.lines)
    assert len(terminal.lines) == 3
