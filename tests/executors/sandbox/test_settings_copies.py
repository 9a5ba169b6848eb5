"""Settings of git lose their passwords and nothing else."""

import os
from pathlib import Path

import pytest

from handrail.executors.sandbox.settings_copies import copy_without_passwords

PLAIN = """[core]
\trepositoryformatversion = 0
[remote "origin"]
\turl = git@example.com:a/b.git
\tpushurl = https://example.com/a/b.git
[branch "main"]
\tremote = origin
[credential]
\thelper = store
[filter "password=x"]
\tclean = ./x
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def test_what_holds_no_password_needs_no_copy(config: Path) -> None:
    config.write_text(PLAIN)

    assert copy_without_passwords(str(config)) is None


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        ("\turl = https://ada:hush@example.com/a", "\turl = https://example.com/a"),
        ("\turl = https://hush@example.com/a", "\turl = https://example.com/a"),
        ("\turl = HTTP://ada:hu@sh@example.com", "\turl = HTTP://example.com"),
        ('[remote "x"] url = https://a:hush@b/', '[remote "x"] url = https://b/'),
        ("\textraheader = Cookie: hush", "\textraheader = Cookie: [masked]"),
        ("\tsmtpPass = hush", "\tsmtpPass = [masked]"),
        ("\tname = caf\udce9 https://a:hush@b", "\tname = caf\udce9 https://b"),
    ],
)
def test_passwords_are_left_out(config: Path, line: str, copied: str) -> None:
    config.write_bytes(f"{PLAIN}{line}\n".encode(errors="surrogateescape"))

    copy = copy_without_passwords(str(config))

    assert copy == f"{PLAIN}{copied}\n".encode(errors="surrogateescape")


@pytest.mark.parametrize("kind", ["none", "link", "pipe", "large", "folder"])
def test_what_cannot_be_looked_through_is_shown_empty(config: Path, kind: str) -> None:
    if kind == "link":
        config.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(config)
    elif kind == "large":
        config.write_bytes(b"x" * ((1 << 20) + 1))
    elif kind == "folder":
        config.mkdir()

    assert copy_without_passwords(str(config)) == b""
