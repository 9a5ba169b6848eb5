"""Settings of git lose their passwords, and what git does not go by, and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.guarded.settings_copies import copy_without_passwords

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
REMOTE, HTTP, HELPERS, USER = '[remote "x"]\n', "[http]\n", "[credential]\n", "[user]\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config"


def test_what_holds_no_password_needs_no_copy(config: Path) -> None:
    config.write_text(PLAIN)

    assert copy_without_passwords(str(config)) is None


@pytest.mark.parametrize(
    ("line", "copied"),
    [
        (
            f"{REMOTE}\turl = https://ada:hush@example.com/a",
            f"{REMOTE}\turl = https://example.com/a",
        ),
        (f"{REMOTE}\turl = https://hush@example.com/a", f"{REMOTE}\turl = https://example.com/a"),
        (f"{REMOTE}\turl = HTTP://ada:hu@sh@example.com", f"{REMOTE}\turl = HTTP://example.com"),
        ('[remote "x"] url = https://a:hush@b/', '[remote "x"] url = https://b/'),
        (f"{HTTP}\textraheader = Cookie: hush", f"{HTTP}\textraheader = Cookie: [masked]"),
        ("\tsmtpPass = hush", "\tsmtpPass = [masked]"),
        (f"{HTTP}\textraHeader = X-Some-Api: hush", f"{HTTP}\textraHeader = X-Some-Api: [masked]"),
        (f"{HTTP}\textraheader = hush", f"{HTTP}\textraheader = [masked]"),
        (
            f"{REMOTE}\turl = git:hush@example.com:a/b",
            f"{REMOTE}\turl = git:[masked]@example.com:a/b",
        ),
        (f"{REMOTE}\turl = svn+https://git:hush@b/", f"{REMOTE}\turl = svn+https://b/"),
        (f"{REMOTE}\turl = x+y://git:hush@b/", f"{REMOTE}\turl = x+y://[masked]@b/"),
        (f"{HELPERS}\thelper = !echo hush", f"{HELPERS}\thelper = [masked]"),
        (f"{HELPERS}\thelper = /opt/x --key hush", f"{HELPERS}\thelper = [masked]"),
        (f'{REMOTE}\turl = "https://a:hush@b/"', f"{REMOTE}\turl = https://b/"),
        (f'{REMOTE}\turl = https://a:hu"sh"@b/;x', f"{REMOTE}\turl = https://b/"),
        (f"{REMOTE}\turl = https://a:hu\\\nsh@b/", f"{REMOTE}\turl = https://b/"),
        (f"{REMOTE}\turl = https://a:hu\\\r\nsh@b/", f"{REMOTE}\turl = https://b/"),
        (f"{REMOTE}\turl = ftp://a:hush@b/", f"{REMOTE}\turl = ftp://b/"),
        (
            '[branch "x"]\n\tdescription = "y;https://a:hush@b/ "',
            '[branch "x"]\n\tdescription = "y;https://b/"',
        ),
        ('[url "https://a:hush@b/"]\n\tinsteadOf = x:', '[url "https://b/"]\n\tinsteadOf = x:'),
        (
            '[core] [url "https://a:hush@b/"] insteadOf = x:',
            '[core] [url "https://b/"] insteadOf = x:',
        ),
        ('[http "ssh://a:hu\\sh@b/"]', '[http "ssh://[masked]@b/"]'),
        ("# https://a:hush@b/", ""),
        ("; hush", ""),
        (f"{REMOTE}\turl = https://b/ # hush", f"{REMOTE}\turl = https://b/ "),
        (f"{USER}\tname = caf\udce9 https://a:hush@b", f"{USER}\tname = caf\udce9 https://b"),
    ],
)
def test_passwords_are_left_out(config: Path, line: str, copied: str) -> None:
    config.write_bytes(f"{PLAIN}{line}\n".encode(errors="surrogateescape"))

    copy = copy_without_passwords(str(config))

    assert copy == f"{PLAIN}{copied}\n".encode(errors="surrogateescape")


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("[my]\n\ttoken = hush", "[my]\n\ttoken = [masked]"),
        ("[my]\n\tpin = 1234", "[my]\n\tpin = [masked]"),
        ('[my "hush"]\n\tx', '[my "[masked]"]\n\tx'),
        ("[core]\n\tthing = hush", "[core]\n\tthing = [masked]"),
        ("[core.x]\n\tthing = hush", "[core.x]\n\tthing = [masked]"),
        ("[svn]\n\tthing = hush hush", "[svn]\n\tthing = [masked]"),
        ("[alias]\n\tx = !curl -H hush", "[alias]\n\tx = [masked]"),
    ],
)
def test_what_no_git_goes_by_is_left_out(config: Path, text: str, copied: str) -> None:
    config.write_text(f"{text}\n")

    assert copy_without_passwords(str(config)) == f"{copied}\n".encode()


@pytest.mark.parametrize(
    "text",
    [
        *("[core]\n\tcomes-next = true", "[core]\n\tcomes-next = 12k", "[alias]\n\tco = checkout"),
        *('[color "diff"]\n\tmeta = yellow bold', "[Core]\n\tAutoCRLF = input", "[my]\n\tx ="),
        *("[user]\n\tname = Ada", '[merge "x"]\n\tdriver = a %O', "[extensions]\n\tx = 1"),
        *("[diff]\n\talgorithm = histogram", "[filter.lfs]\n\tprocess = git-lfs filter-process"),
    ],
)
def test_what_git_goes_by_stays(config: Path, text: str) -> None:
    config.write_text(f"{text}\n")

    assert copy_without_passwords(str(config)) is None


def test_there_is_no_copy_of_what_is_not_there_any_more(config: Path) -> None:
    assert copy_without_passwords(str(config)) is None


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
    assert _names(ours.stdout) == _names(plain.stdout)
    assert b"hush" not in ours.stdout


def _names(listed: bytes) -> list[bytes]:
    return [row.partition(b"\n")[0] for row in listed.split(b"\0")]
