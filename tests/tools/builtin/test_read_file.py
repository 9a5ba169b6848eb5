import asyncio
import base64
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.errors import BadInput, ErrorType, FileOperationError
from handrail.core.hands import FileContent, Hands
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles, FakeHands
from handrail.tools.builtin.read_file import ReadFile, ReadFileParams
from handrail.tools.catalogue import builtin_registry

SCENE = Scene("/home/ada/project")
NUMBERED = "".join(f"line {n}\n" for n in range(1, 11))


async def read(data: bytes, **params: Any) -> ToolResult:
    wanted = ReadFileParams(path="a.txt", **params)
    return await ReadFile().execute(wanted, SCENE, FakeHands({"a.txt": data}))


def text_result(content: str, size: int, *, encoding: str = "utf-8", note: str = "") -> ToolResult:
    return ToolResult(
        success=True,
        output=content + note,
        fields={
            "content": content,
            "encoding": encoding,
            "size": size,
            "truncated": note != "",
        },
    )


async def test_text_comes_with_its_size_and_encoding() -> None:
    assert await read(b"hello\nworld\n") == text_result("hello\nworld\n", 12)


async def test_size_counts_bytes_not_characters() -> None:
    assert await read("é🛤".encode()) == text_result("é🛤", 6)


async def test_empty_file_is_empty_text() -> None:
    assert await read(b"") == text_result("", 0)


@pytest.mark.parametrize(
    "data",
    [b"a\r\nb\r\n", b"a\rb", b"a\nb", b"\n\n\n", b"a\x0bb\x0cc\x1dd", "a\u2028b\x85c".encode()],
    ids=["crlf", "cr", "no-end", "empty-lines", "old-separators", "unicode-separators"],
)
async def test_content_is_kept_as_it_is(data: bytes) -> None:
    assert await read(data) == text_result(data.decode(), len(data))


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({"offset": 0}, NUMBERED),
        ({"offset": 8}, "line 9\nline 10\n"),
        ({"limit": 2}, "line 1\nline 2\n"),
        ({"offset": 3, "limit": 2}, "line 4\nline 5\n"),
        ({"offset": 9, "limit": 5}, "line 10\n"),
        ({"limit": 100}, NUMBERED),
        ({"offset": 10}, ""),
        ({"offset": 10**9, "limit": 10**9}, ""),
    ],
    ids=["none", "offset", "limit", "both", "short", "more-than-all", "at-the-end", "far-behind"],
)
async def test_offset_and_limit_choose_lines(params: dict[str, int], content: str) -> None:
    assert await read(NUMBERED.encode(), **params) == text_result(content, len(NUMBERED))


async def test_only_a_line_feed_ends_a_line() -> None:
    result = await read(b"a\r\nb\rc\x0cd\ne", offset=1, limit=1)
    assert result.fields["content"] == "b\rc\x0cd\n"


async def test_two_thousand_lines_are_shown_whole() -> None:
    text = "x\n" * 2_000
    assert await read(text.encode()) == text_result(text, 4_000)


async def test_after_two_thousand_lines_a_notice_says_how_to_go_on() -> None:
    result = await read(b"x\n" * 12_345)
    note = "\n[lines 1 to 2,000 of 12,345; go on with offset=2000]"
    assert result == text_result("x\n" * 2_000, 24_690, note=note)


async def test_notice_counts_from_the_beginning_of_the_file() -> None:
    result = await read(b"x\n" * 5_000, offset=2_500)
    note = "\n[lines 2,501 to 4,500 of 5,000; go on with offset=4500]"
    assert result == text_result("x\n" * 2_000, 10_000, note=note)


async def test_more_lines_come_when_they_are_asked_for() -> None:
    assert await read(b"x\n" * 5_000, limit=5_000) == text_result("x\n" * 5_000, 10_000)


async def test_quarter_of_a_megabyte_is_shown_whole() -> None:
    text = ("x" * 999 + "\n") * 256
    assert await read(text.encode()) == text_result(text, 256_000)


async def test_after_a_quarter_of_a_megabyte_a_notice_says_how_to_go_on() -> None:
    line = "x" * 999 + "\n"
    result = await read(line.encode() * 300)
    note = "\n[lines 1 to 256 of 300; go on with offset=256]"
    assert result == text_result(line * 256, 300_000, note=note)


@pytest.mark.parametrize(("first", "end"), [(0, 300), (0, 299), (20, 300), (20, 299)])
async def test_who_asks_for_so_many_lines_gets_them_while_the_model_is_shown_some(
    first: int, end: int
) -> None:
    lines = [f"{number:999}\n" for number in range(300)]
    result = await read("".join(lines).encode(), offset=first, limit=end - first)
    assert result.fields["content"] == "".join(lines[first:end])
    assert result.fields["truncated"] is False
    shown = "".join(lines[first : first + 256])
    note = f"\n[lines {first + 1} to {first + 256} of 300; go on with offset={first + 256}]"
    assert result.output == shown + note


async def test_cap_counts_bytes_not_characters() -> None:
    line = "é" * 499 + "xx"
    result = await read(f"{line}\n".encode() * 300)
    assert len(result.fields["content"].encode()) <= 256_000
    assert result.fields["truncated"] is True


async def test_one_huge_line_is_shown_from_its_beginning() -> None:
    result = await read(b"x" * 300_000)
    note = "\n[the beginning of line 1, which is 300,000 characters]"
    assert result == text_result("x" * 256_000, 300_000, note=note)


async def test_huge_line_is_not_cut_within_a_character() -> None:
    result = await read(b"x" + "é".encode() * 150_000)
    assert result.fields["content"] == "x" + "é" * 127_999


async def test_huge_line_further_down_is_named() -> None:
    result = await read(b"short\n" + b"x" * 300_000, offset=1)
    note = "\n[the beginning of line 2, which is 300,000 characters]"
    assert result == text_result("x" * 256_000, 300_006, note=note)


async def test_lines_before_a_huge_one_are_shown_alone() -> None:
    result = await read(b"short\n" + b"x" * 300_000 + b"\nlast\n")
    note = "\n[lines 1 to 1 of 3; go on with offset=1]"
    assert result == text_result("short\n", 300_012, note=note)


async def test_following_the_notice_reads_the_whole_file() -> None:
    text = "".join(f"{n} {'x' * (n % 700)}\n" for n in range(6_000))
    pieces: list[str] = []
    offset = 0
    while True:
        result = await read(text.encode(), offset=offset)
        pieces.append(result.fields["content"])
        if not result.fields["truncated"]:
            break
        offset = int(result.output.rpartition("offset=")[2].rstrip("]"))
    assert len(pieces) > 3
    assert "".join(pieces) == text


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (b"%PDF-1.7\n\xff\0", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0", "image/png"),
        (b"\xff\xd8\xff\xe0\0", "image/jpeg"),
        (b"GIF87a\0", "image/gif"),
        (b"GIF89a\0", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ],
    ids=["pdf", "png", "jpeg", "gif87", "gif89", "webp"],
)
async def test_pictures_and_pdf_come_as_base64(data: bytes, media: str) -> None:
    assert await read(data) == ToolResult(
        success=True,
        output=f"[{media}, {len(data)} bytes]",
        fields={
            "content": base64.b64encode(data).decode(),
            "encoding": "base64",
            "media_type": media,
            "size": len(data),
            "truncated": False,
        },
    )


async def test_large_picture_comes_whole() -> None:
    picture = b"GIF89a".ljust(5_000_000, b"\0")
    result = await read(picture)
    assert base64.b64decode(result.fields["content"]) == picture
    assert result.output == "[image/gif, 5,000,000 bytes]"


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        b"text\0text",
        b"\x7fELF\x02\x01\x01\0",
        b"PK\x03\x04\xff\xfe",
        b"\xff\xfe\xfa",
        b"RIFF\x10\0\0\0WAVEfmt ",
        b"caf\xe9",
        b"late NUL" * 100_000 + b"\0",
    ],
    ids=["nul", "nul-inside", "elf", "zip", "not-utf-8", "wave", "latin-1", "nul-at-the-end"],
)
async def test_binary_is_refused_by_its_content(data: bytes) -> None:
    assert await read(data) == ToolResult.failed(
        "a.txt is binary, or not utf-8; only text, pdf, png, jpeg, gif and webp can be read",
        ErrorType.VALIDATION,
    )


async def test_ending_of_the_name_decides_nothing() -> None:
    hands = FakeHands({"a.png": b"only text", "b.txt": b"GIF89a"})
    picture = await ReadFile().execute(ReadFileParams(path="a.png"), SCENE, hands)
    text = await ReadFile().execute(ReadFileParams(path="b.txt"), SCENE, hands)
    assert (picture.fields["encoding"], text.fields["encoding"]) == ("utf-8", "base64")


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("latin-1", "iso8859-1"),
        ("utf-16", "utf-16"),
        ("UTF-16LE", "utf-16-le"),
        ("cp1252", "cp1252"),
        ("utf8", "utf-8"),
    ],
)
async def test_text_is_read_in_the_encoding_asked_for(encoding: str, named: str) -> None:
    data = "café\r\nnaïve\n".encode(encoding)
    result = await read(data, encoding=encoding)
    assert result == text_result("café\r\nnaïve\n", len(data), encoding=named)


async def test_text_in_another_encoding_is_refused() -> None:
    result = await read(b"\xff\xfea", encoding="utf-16")
    assert result.error_type is ErrorType.VALIDATION
    assert result.error is not None
    assert result.error.startswith("a.txt is binary, or not utf-16;")


async def test_missing_file_is_an_error_of_the_file_system() -> None:
    with pytest.raises(FileOperationError, match=r"^b\.txt does not exist$"):
        await ReadFile().execute(ReadFileParams(path="b.txt"), SCENE, FakeHands())


@pytest.mark.parametrize(
    "path",
    [
        "src/a.py",
        "./src//a.py",
        "lib/../src/a.py",
        "workspace/src/a.py",
        "/home/ada/project/src/a.py",
    ],
)
async def test_what_is_opened_is_what_was_judged(path: str) -> None:
    params = ReadFileParams(path=path)
    result = await ReadFile().execute(params, SCENE, FakeHands({"src/a.py": b"pass"}))
    assert result.output == "pass"
    assert ReadFile().plan(params, SCENE) == Plan(paths=("src/a.py",))


async def test_no_more_than_a_hundred_megabytes_are_asked_of_the_hands() -> None:
    asked: list[tuple[str, int]] = []

    class Watched(FakeFiles):
        async def read(self, path: str, *, max_bytes: int) -> FileContent:
            asked.append((path, max_bytes))
            return FileContent(b"", 0)

    await ReadFile().execute(
        ReadFileParams(path="a.txt"), SCENE, Hands(Watched({}), FakeCommands({}))
    )
    assert asked == [("a.txt", 100_000_000)]


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "path.spelling"),
        ("a\0b", "path.spelling"),
        ("~/x", "path.spelling"),
        ("../x", "path.boundary"),
        ("/etc/passwd", "path.boundary"),
        ("/home/ada/project-evil/x", "path.boundary"),
        (".env", "path.dotenv"),
        ("certs/server.key", "path.private-key"),
        (".ssh/config", "path.credential-store"),
        (".git/config", "path.git-secrets"),
        (".handrail/tokens/client", "path.handrail-own"),
    ],
)
def test_path_is_refused_before_anyone_is_asked(path: str, rule: str) -> None:
    findings = ReadFile().pre_validate(ReadFileParams(path=path), SCENE)
    assert [(found.rule, found.risk) for found in findings] == [(rule, RiskLevel.FORBIDDEN)]


@pytest.mark.parametrize("path", ["a.txt", ".git/HEAD", ".env.example", "missing/x"])
def test_harmless_path_raises_no_concern(path: str) -> None:
    assert ReadFile().pre_validate(ReadFileParams(path=path), SCENE) == []


def test_preview_says_what_will_happen() -> None:
    assert ReadFile().preview(ReadFileParams(path="src/a.py")) == "Read src/a.py"


def test_model_is_told_how_much_is_shown_at_once() -> None:
    assert "At most 2,000 lines or 256 kB are shown at once" in ReadFile().description


def test_reading_is_low_and_changes_nothing_and_happens_on_the_client() -> None:
    definition = ReadFile().definition
    assert (definition.name, definition.safety_level, definition.effect, definition.site) == (
        "read_file",
        RiskLevel.LOW,
        Effect.READ,
        Site.CLIENT,
    )


_ENCODINGS = st.sampled_from(["utf-8", "latin-1", "utf-16", "cp1252", "ascii"])


@settings(deadline=None)
@given(
    st.binary(max_size=300) | st.text(max_size=100).map(str.encode),
    _ENCODINGS,
    st.none() | st.integers(0, 5),
    st.none() | st.integers(1, 5),
)
async def test_no_content_breaks_the_tool(
    data: bytes, encoding: str, offset: int | None, limit: int | None
) -> None:
    result = await read(data, encoding=encoding, offset=offset, limit=limit)
    assert result.success == (result.error is None)
    if result.success and result.fields["encoding"] != "base64":
        assert result.fields["content"] in data.decode(encoding)


@pytest.mark.parametrize(
    "encoding",
    ["nonsense", "", "hex", "base64", "zlib", "rot13", "undefined", "utf-7", "unicode_escape"],
)
def test_an_encoding_that_is_none_of_files_is_refused(encoding: str) -> None:
    with pytest.raises(BadInput, match=r"^encoding: "):
        builtin_registry().parse("read_file", {"path": "a", "encoding": encoding})


@pytest.mark.parametrize("offset", [0, 1_999_999, 2_000_000, 10**30])
async def test_few_lines_of_many_are_found_without_taking_all_apart(offset: int) -> None:
    hands = FakeHands({"a.txt": b"a\n" * 2_000_000})
    tracemalloc.start()
    try:
        result = await ReadFile().execute(
            ReadFileParams(path="a.txt", offset=offset, limit=1), SCENE, hands
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.fields["content"] == ("a\n" if offset < 2_000_000 else "")
    assert peak < 20_000_000  # The text itself, and not an object for each of its lines.


@given(st.text(alphabet="a\n", max_size=40), st.integers(0, 45), st.integers(1, 45))
def test_any_window_of_lines_is_what_splitting_would_give(
    text: str, offset: int, limit: int
) -> None:
    params = ReadFileParams(path="a.txt", offset=offset, limit=limit)
    result = asyncio.run(ReadFile().execute(params, SCENE, FakeHands({"a.txt": text.encode()})))
    assert result.fields["content"] == "".join(text.splitlines(True)[offset:][:limit])
