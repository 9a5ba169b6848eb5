"""A text is changed in the person's own editor, and nothing else of it."""

from pathlib import Path

import pytest

from handrail.app.editor import edit_text
from handrail.core.errors import BadInput, SetupError


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that edits; it stands in a folder with a blank, as some editors do."""
    script = tmp_path / "my editor"
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{script}' --wait")
    return script


def does(editor: Path, line: str) -> None:
    editor.write_text(f'#!/bin/sh\n[ "$1" = --wait ] || exit 9\n{line}\n')
    editor.chmod(0o755)


def test_the_text_is_as_it_was_saved(editor: Path) -> None:
    does(editor, 'sed -i s/one/two/ "$2"')

    assert edit_text("one\r\nthree\n") == "two\r\nthree\n"


@pytest.mark.parametrize("text", ["make", "make\n"])
def test_a_line_end_at_the_end_is_kept_as_it_was(editor: Path, text: str) -> None:
    does(editor, 'printf "make test\\n" > "$2"')

    assert edit_text(text) == text.replace("make", "make test")


def test_only_this_user_can_read_what_is_edited(editor: Path) -> None:
    does(editor, 'stat -c %a "$(dirname "$2")" > "$2"')

    assert edit_text("a secret") == "700"


def test_an_editor_that_fails_changes_nothing(editor: Path) -> None:
    does(editor, "exit 1")

    with pytest.raises(BadInput, match="ended with 1; nothing was changed"):
        edit_text("one")


def test_what_is_no_text_is_refused(editor: Path) -> None:
    does(editor, 'printf "\\377" > "$2"')

    with pytest.raises(BadInput, match="not UTF-8"):
        edit_text("one")


def test_without_an_editor_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)

    with pytest.raises(SetupError, match=r"set \$EDITOR"):
        edit_text("one")


def test_an_editor_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "no-such-editor")

    with pytest.raises(SetupError, match="no-such-editor cannot be started"):
        edit_text("one")
