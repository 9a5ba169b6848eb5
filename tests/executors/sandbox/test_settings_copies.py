"""Settings of git lose their passwords and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.sandbox.settings_copies import copy_without_passwords

PLAIN = """[core]
\trepositoryformatversion = 0
[remote "origin"]
\turl = git@example.com:a/b.git
\tpushurl = https://example.com/a/b.git
[branch "main"]
\tremote = origin
[credential]
\thelper = store --file ~/.x
\thelper = cache --timeout=300
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
        ("\textraHeader = X-Some-Api: hush", "\textraHeader = X-Some-Api: [masked]"),
        ("\textraheader = hush", "\textraheader = [masked]"),
        ("\turl = git:hush@example.com:a/b", "\turl = git:[masked]@example.com:a/b"),
        ("\turl = svn+https://git:hush@b/", "\turl = svn+https://b/"),
        ("\turl = x+y://git:hush@b/", "\turl = x+y://[masked]@b/"),
        ("\thelper = !echo hush", "\thelper = [masked]"),
        ("\thelper = /opt/x --key hush", "\thelper = [masked]"),
        ('\turl = "https://a:hush@b/"', "\turl = https://b/"),
        ('\turl = https://a:hu"sh"@b/;x', "\turl = https://b/;x"),
        ("\turl = https://a:hu\\\nsh@b/", "\turl = https://b/"),
        ("\turl = https://a:hu\\\r\nsh@b/", "\turl = https://b/"),
        ("\turl = ftp://a:hush@b/", "\turl = ftp://b/"),
        ('\tx = "y;https://a:hush@b/ "', '\tx = "y;https://b/"'),
        ('[url "https://a:hush@b/"]\n\tinsteadOf = x:', '[url "https://b/"]\n\tinsteadOf = x:'),
        (
            '[core] [url "https://a:hush@b/"] insteadOf = x:',
            '[core] [url "https://b/"] insteadOf = x:',
        ),
        ('[http "ssh://a:hu\\sh@b/"]', '[http "ssh://[masked]@b/"]'),
        ("# https://a:hush@b/", "# https://b/"),
        ("\tname = caf\udce9 https://a:hush@b", "\tname = caf\udce9 https://b"),
    ],
)
def test_passwords_are_left_out(config: Path, line: str, copied: str) -> None:
    config.write_bytes(f"{PLAIN}{line}\n".encode(errors="surrogateescape"))

    copy = copy_without_passwords(str(config))

    assert copy == f"{PLAIN}{copied}\n".encode(errors="surrogateescape")


def test_what_is_not_there_any_more_is_shown_empty(config: Path) -> None:
    assert copy_without_passwords(str(config)) == b""


@pytest.mark.parametrize("kind", ["link", "pipe", "large", "folder"])
def test_what_cannot_be_looked_through_is_refused(config: Path, kind: str) -> None:
    if kind == "link":
        config.symlink_to("/etc/passwd")
    elif kind == "pipe":
        os.mkfifo(config)
    elif kind == "large":
        config.write_bytes(b"#" * ((1 << 20) + 1))
    elif kind == "folder":
        config.mkdir()

    with pytest.raises(CommandExecutionError, match="without the passwords"):
        copy_without_passwords(str(config))


@pytest.mark.parametrize(
    "line",
    ["x = y", "[a]\nb = 'c", "[a]\n1 = x", "[a\n]", '[a "b]', "[a]\nb c", "[a]\nb = c\0d", "\v[a]"],
)
def test_what_git_would_read_otherwise_is_refused_or_read_the_same(config: Path, line: str) -> None:
    config.write_text(f"{line}\n\turl = https://a:hush@b/\n")
    words = ["git", "config", "--file", str(config), "--list", "-z"]
    plain = subprocess.run(words, check=False, capture_output=True)

    try:
        copy = copy_without_passwords(str(config))
    except CommandExecutionError:
        return
    assert copy is not None
    config.write_bytes(copy)
    ours = subprocess.run(words, check=False, capture_output=True)
    assert ours.stdout == plain.stdout.replace(b"a:hush@", b"")
