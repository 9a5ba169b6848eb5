import asyncio
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import (
    BadInput,
    CommandExecutionError,
    FileOperationError,
    PathValidationError,
)
from handrail.core.search import Found, Match, Query
from handrail.executors.files import search
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.search import SearchExecutor


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "src").mkdir(parents=True)
    (made / "a.py").write_text("import os\nfoo = 1\n")
    (made / "src" / "b.py").write_text("\tfoo()\n")
    (made / "notes.md").write_text("Foo\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f.py").write_text("foo stolen\n")
    return made


@pytest.fixture
def files(root: Path) -> Iterator[FileSystemExecutor]:
    with FileSystemExecutor(root) as made:
        yield made


@pytest.fixture
def searcher(files: FileSystemExecutor) -> Iterator[SearchExecutor]:
    with Ripgrep(files.root) as ripgrep:
        yield SearchExecutor(files, ripgrep)


class Pretender(Ripgrep):
    """A program that says it is ripgrep."""

    def __init__(self, root: str, script: Path, body: str):
        super().__init__(root)
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(stat.S_IRWXU)
        self._program = str(script)


async def found(
    searcher: SearchExecutor,
    pattern: str = "foo",
    path: str = ".",
    *,
    files: str | None = None,
    case: bool = True,
    most: int = 100,
) -> Found:
    return await searcher.search(Query(pattern, case, files), path, most=most)


async def paths(
    searcher: SearchExecutor, *, path: str = ".", files: str | None = None
) -> list[str]:
    return [match.path for match in (await found(searcher, "foo", path, files=files)).matches]


async def test_lines_are_found_with_their_place(searcher: SearchExecutor) -> None:
    assert await found(searcher) == Found(
        (Match("a.py", 2, 1, "foo = 1"), Match("src/b.py", 1, 2, "\tfoo()")), 2
    )


async def test_case_can_be_left_out(searcher: SearchExecutor) -> None:
    assert (await found(searcher, "FOO", case=False)).total == 3
    assert (await found(searcher, "FOO")).total == 0


@pytest.mark.parametrize("pattern", ["-foo", "--files", "-", "--pre=sh"])
async def test_a_pattern_is_never_an_option(
    searcher: SearchExecutor, root: Path, pattern: str
) -> None:
    (root / "x").write_text(f"look: {pattern}!\n")
    assert [match.text for match in (await found(searcher, pattern, "x")).matches] == [
        f"look: {pattern}!"
    ]


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("fo(", "pattern: unclosed group"),
        ("*", "pattern: repetition operator missing expression"),
        ("(?=x)", "pattern: look-around"),
        ("a{1000}{1000}{1000}", "pattern: compiled regex exceeds size limit"),
        (r"a\nb", r"pattern: the literal .* is not allowed"),
    ],
)
async def test_what_is_no_regular_expression_is_bad_input(
    searcher: SearchExecutor, pattern: str, said: str
) -> None:
    with pytest.raises(BadInput, match=f"^{said}"):
        await found(searcher, pattern)


async def test_one_file_can_be_searched(searcher: SearchExecutor, root: Path) -> None:
    (root / ".gitignore").write_text("a.py\n")
    assert await found(searcher, "foo", "a.py") == Found((Match("a.py", 2, 1, "foo = 1"),), 1)


async def test_a_file_with_the_name_of_a_stream_is_a_file(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / "<stdin>").write_text("foo\n")
    assert "<stdin>" in await paths(searcher)


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("*.py", ["a.py", "src/b.py"]),
        ("src/*.py", ["src/b.py"]),
        ("**/b.*", ["src/b.py"]),
        ("[ab].py", ["a.py", "src/b.py"]),
        ("*", ["a.py", "src/b.py"]),
        ("**", ["a.py", "src/b.py"]),
        ("*.rs", []),
        ("[", []),
        ("include:py", []),
        ("--files", []),
        ("!*.py", []),
    ],
)
async def test_only_files_that_fit_are_searched(
    searcher: SearchExecutor, pattern: str, fits: list[str]
) -> None:
    assert await paths(searcher, files=pattern) == fits


async def test_a_file_pattern_does_not_bring_back_what_is_ignored(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / ".gitignore").write_text("build\n")
    (root / "build").mkdir()
    (root / "build" / "c.py").write_text("foo\n")
    assert await paths(searcher) == ["a.py", "src/b.py"]
    assert await paths(searcher, files="*") == ["a.py", "src/b.py"]
    assert await paths(searcher, files="*.py") == ["a.py", "src/b.py"]
    assert await paths(searcher, path="build") == ["build/c.py"]


async def test_hidden_files_are_searched_only_if_they_are_asked_for(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / ".tool").write_text("foo\n")
    (root / ".dir").mkdir()
    (root / ".dir" / ".tool").write_text("foo\n")
    assert ".tool" not in await paths(searcher)
    assert await paths(searcher, files=".t*") == [".tool"]
    assert await paths(searcher, path=".dir", files=".t*") == [".dir/.tool"]


@pytest.mark.parametrize(
    "name", [".env", "prod.env", "server.key", "credentials/x", "ID_RSA", "home/.ssh/config"]
)
@pytest.mark.parametrize("guarded", [True, False], ids=["passed-by", "sorted-out"])
async def test_protected_files_are_never_found(
    searcher: SearchExecutor,
    root: Path,
    name: str,
    guarded: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not guarded:
        monkeypatch.setattr(SearchExecutor, "_protections", lambda self: ["--hidden"])
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("foo\n")
    assert await paths(searcher) == ["a.py", "src/b.py"]
    for pattern in (".*", "**/*", "*.key"):
        assert name not in await paths(searcher, files=pattern)


@pytest.mark.parametrize("target", ["../outside", "../outside/f.py"])
async def test_a_link_that_leads_outside_is_refused_and_below_not_followed(
    searcher: SearchExecutor, root: Path, target: str
) -> None:
    (root / "link").symlink_to(target)
    assert await paths(searcher) == ["a.py", "src/b.py"]
    with pytest.raises(PathValidationError):
        await found(searcher, "foo", "link")


async def test_a_link_does_not_lend_its_name_to_a_protected_file(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / ".env").write_text("foo\n")
    (root / "link").symlink_to(".env")
    with pytest.raises(PathValidationError):
        await found(searcher, "foo", "link")


async def test_a_folder_below_a_link_inside_is_searched(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / "link").symlink_to("src")
    assert await paths(searcher, path="link") == ["link/b.py"]


async def test_what_is_not_there_is_said(searcher: SearchExecutor) -> None:
    with pytest.raises(FileOperationError, match=r"^nothing does not exist$"):
        await found(searcher, "foo", "nothing")


async def test_binary_files_are_passed_by(searcher: SearchExecutor, root: Path) -> None:
    (root / "early").write_bytes(b"\0foo\n")
    (root / "late").write_bytes((b"foo".ljust(40) + b"\n") * 5_000 + b"\0")
    assert await paths(searcher) == ["a.py", "src/b.py"]
    assert await paths(searcher, path="late") == []


async def test_text_that_is_not_utf_8_is_found(searcher: SearchExecutor, root: Path) -> None:
    (root / "latin").write_bytes(b"caf\xe9 foo\r\n")
    result = await found(searcher, "foo", "latin")
    assert result.matches == (Match("latin", 1, 6, "caf\ufffd foo"),)


async def test_names_that_are_not_utf_8_are_found(searcher: SearchExecutor, root: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    (root / name).write_text("foo\n")
    assert name in await paths(searcher)


async def test_columns_count_characters(searcher: SearchExecutor, root: Path) -> None:
    (root / "x").write_text("ééé foo\n")
    assert (await found(searcher, "foo", "x")).matches[0].column == 5


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0, 497, "foo" + "x" * 497),
        (0, 1_000, "foo" + "x" * 497 + "…"),
        (1_000, 1_000, "…" + "x" * 100 + "foo" + "x" * 397 + "…"),
        (1_000, 0, "…" + "x" * 497 + "foo"),
    ],
    ids=["just-fits", "at-the-beginning", "in-the-middle", "at-the-end"],
)
async def test_of_a_long_line_the_part_around_the_match_is_shown(
    searcher: SearchExecutor, root: Path, before: int, after: int, text: str
) -> None:
    (root / "x").write_text("x" * before + "foo" + "x" * after + "\n")
    (match,) = (await found(searcher, "foo", "x")).matches
    assert (match.column, match.text) == (before + 1, text)


async def test_a_line_of_many_megabytes_is_left_out_and_said(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / "x").write_text("foo\n" + "x" * 5_000_000 + "foo\nfoo\n")
    result = await found(searcher, "foo", "x")
    assert [match.line for match in result.matches] == [1, 3]
    assert result.cut_short == "1 matching lines were too long to be checked"


async def test_only_so_many_are_returned_and_all_are_counted(
    searcher: SearchExecutor, root: Path
) -> None:
    (root / "x").write_text("foo\n" * 5_000)
    result = await found(searcher, "foo", "x", most=3)
    assert ([match.line for match in result.matches], result.total) == ([1, 2, 3], 5_000)
    assert result.cut_short is None


async def test_counting_has_an_end(searcher: SearchExecutor, root: Path) -> None:
    (root / "x").write_text("foo\n" * 50_000)
    (root / "y").write_text("foo\n" * 50_000)
    result = await found(searcher, "foo", most=3)
    assert (len(result.matches), result.total) == (3, 10_000)
    assert result.cut_short == "counting stopped at 10,000"


async def test_a_second_name_of_a_file_that_is_a_strangers_is_not_found(
    searcher: SearchExecutor, root: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    (root / "given.py").write_text("foo\n")
    os.link(root / "given.py", root / "second.py")
    os.chown(root / "given.py", 12345, 12345)
    assert await paths(searcher) == ["a.py", "src/b.py"]


@pytest.mark.parametrize("has_proc", [True, False], ids=["by-proc", "by-fchdir"])
async def test_it_is_the_open_folder_that_is_searched(
    searcher: SearchExecutor, has_proc: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if has_proc and not search._HAS_PROC:
        pytest.skip("there is no /proc on this system")
    monkeypatch.setattr(search, "_HAS_PROC", has_proc)
    assert await paths(searcher, path="src") == ["src/b.py"]


async def test_a_claim_that_the_file_does_not_bear_out_is_dropped(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    """As if a folder had been a link to the outside while ripgrep looked."""
    begin = '{"type":"begin","data":{"path":{"text":"${FOLDER}a.py"}}}'
    end = '{"type":"end","data":{"path":{"text":"${FOLDER}a.py"},"binary_offset":null}}'
    match = (
        '{"type":"match","data":{"path":{"text":"${FOLDER}a.py"},"lines":{"text":"LINE\\\\n"},'
        '"line_number":1,"absolute_offset":0,"submatches":[{"start":0,"end":3}]}}'
    )
    body = f"for FOLDER; do :; done\ncat <<END\n{begin}\n{match}\n{end}\n"
    summary = '{"type":"summary","data":{}}\nEND'
    for line, total in (("stolen", 0), ("import os", 1)):
        told = body.replace("LINE", line).replace("\\\\n", "\\n") + summary
        liar = Pretender(files.root, tmp_path / "rg", told)
        assert (await found(SearchExecutor(files, liar))).total == total


async def test_a_search_that_takes_too_long_gives_what_it_has(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    begin = '{"type":"begin","data":{"path":{"text":"./a.py"}}}'
    slow = Pretender(files.root, tmp_path / "rg", f"echo '{begin}'\nsleep 60 & sleep 60")
    began = time.monotonic()
    result = await found(SearchExecutor(files, slow, max_seconds=0.3))
    assert result == Found((), 0, "the search was ended after 0.3 s")
    assert time.monotonic() - began < 40


async def test_a_cancelled_search_leaves_nothing_running(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    noted = tmp_path / "pids"
    body = f"echo $$ > {noted}.new; mv {noted}.new {noted}; exec sleep 60"
    searching = asyncio.get_running_loop().create_task(
        found(SearchExecutor(files, Pretender(files.root, tmp_path / "rg", body)))
    )
    while not noted.exists():
        assert not searching.done(), searching
        await asyncio.sleep(0.01)
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert await is_gone(int(noted.read_text()))


async def is_gone(pid: int) -> bool:
    for _ in range(200):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_ripgrep_that_breaks_is_an_error(files: FileSystemExecutor, tmp_path: Path) -> None:
    broken = Pretender(files.root, tmp_path / "rg", "kill -9 $$")
    with pytest.raises(CommandExecutionError, match=r"ripgrep failed \(exit code -9\)"):
        await found(SearchExecutor(files, broken))


async def test_a_ripgrep_that_cannot_be_started_is_an_error(
    files: FileSystemExecutor, tmp_path: Path
) -> None:
    broken = Pretender(files.root, tmp_path / "rg", "")
    (tmp_path / "rg").unlink()
    with pytest.raises(CommandExecutionError, match="could not be started"):
        await found(SearchExecutor(files, broken))


async def test_ripgrep_sees_nothing_of_our_environment(
    files: FileSystemExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", "/evil")
    noted = tmp_path / "env"
    curious = Pretender(files.root, tmp_path / "rg", f"env > {noted}; exit 1")
    with pytest.raises(CommandExecutionError):
        await found(SearchExecutor(files, curious))
    names = {line.partition("=")[0] for line in noted.read_text().splitlines()}
    assert names <= {"LANG", "PWD", "SHLVL", "_", "OLDPWD"}


async def test_no_file_stays_open(searcher: SearchExecutor, root: Path) -> None:
    (root / "link").symlink_to("../outside")
    await found(searcher)
    before = len(os.listdir("/dev/fd"))
    await found(searcher)
    with pytest.raises(PathValidationError):
        await found(searcher, "foo", "link")
    with pytest.raises(BadInput):
        await found(searcher, "(")
    # What a process that has ended leaves behind, the loop takes away in its own time.
    async with asyncio.timeout(10):
        while len(os.listdir("/dev/fd")) != before:
            await asyncio.sleep(0.01)
