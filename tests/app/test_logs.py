"""Logs are lines a program can read, on standard error."""

import json
import os
from collections.abc import Generator
from pathlib import Path

import pytest
import structlog

from handrail.app.logs import LogFile, Pen, configure_logs


@pytest.fixture(autouse=True)
def restored() -> Generator[None]:
    yield
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    printed = capsys.readouterr()
    assert printed.out == ""
    read = [json.loads(line) for line in printed.err.splitlines()]
    assert all(line["timestamp"].endswith("Z") for line in read)
    return [(line["level"], line["event"]) for line in read]


@pytest.mark.parametrize(
    ("verbose", "expected"),
    [
        (False, [("warning", "worrying"), ("error", "broken")]),
        (True, [("info", "harmless"), ("warning", "worrying"), ("error", "broken")]),
    ],
)
def test_only_who_asks_for_it_is_told_of_harmless_things(
    capsys: pytest.CaptureFixture[str], verbose: bool, expected: list[tuple[str, str]]
) -> None:
    configure_logs(verbose=verbose)
    log = structlog.get_logger()

    log.debug("detail")
    log.info("harmless")
    log.warning("worrying")
    log.error("broken")

    assert lines(capsys) == expected


def test_what_broke_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    hidden = "-".join(["open", "sesame"])

    try:
        raise ZeroDivisionError(len(hidden))
    except ZeroDivisionError as error:
        structlog.get_logger().error("broken", exc_info=error)

    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert "ZeroDivisionError: 11" in told["exception"]
    # The values of variables are nobody's business.
    assert hidden not in line


def test_a_reader_who_does_not_read_holds_nobody_up_and_is_told_what_it_missed() -> None:
    reader, writer = os.pipe()
    with open(writer, "w") as stream, open(reader) as reading:
        pen = Pen(stream)

        for number in range(2_000):
            pen.write(json.dumps({"event": "denied", "number": number, "words": "x" * 200}) + "\n")
        os.set_blocking(reader, False)
        missed = 2_000 - len(reading.readlines())
        pen.write('{"event": "later"}\n')
        told = [json.loads(line) for line in reading.read().splitlines()[-2:]]

    assert 0 < missed < 2_000
    assert told == [
        {"event": "log.lost", "lines": missed, "level": "warning"},
        {"event": "later"},
    ]


def test_when_the_reader_has_gone_nobody_minds() -> None:
    reader, writer = os.pipe()
    with open(writer, "w") as stream:
        os.close(reader)

        Pen(stream).write("to nobody\n")


def test_a_long_line_is_written_whole_while_somebody_reads(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with file.open("w") as stream:
        Pen(stream).write("ü" * 100_000 + "\n")

    assert file.read_text() == "ü" * 100_000 + "\n"


def test_a_line_that_had_to_be_cut_does_not_run_into_the_next() -> None:
    reader, writer = os.pipe()
    with open(writer, "w") as stream, open(reader) as reading:
        pen = Pen(stream)

        pen.write("x" * 1_000_000 + "\n")
        os.set_blocking(reader, False)
        cut = reading.read()
        pen.write("next\n")
        rest = reading.read().splitlines()

    assert set(cut) == {"x"}
    assert rest[0] == ""
    assert json.loads(rest[1])["lines"] == 1
    assert rest[2] == "next"


def test_the_file_gets_everything_and_the_screen_only_what_is_worrying(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "handrail.log"
    configure_logs(file=file)
    structlog.get_logger().info("harmless")
    structlog.get_logger().warning("worrying")

    written = [json.loads(line)["event"] for line in file.read_text().splitlines()]
    assert written == ["harmless", "worrying"]
    assert lines(capsys) == [("warning", "worrying")]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_long_file_is_rotated_once_whoever_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.app.logs._LONGEST_BYTES", 100)
    path = tmp_path / "handrail.log"
    here, there = LogFile.open(path), LogFile.open(path)
    assert here is not None
    assert there is not None

    for writer in (here, there):
        writer.write("x" * 60 + "\n")
    here.write("after\n")
    there.write("after too\n")

    older = tmp_path / "handrail.log.1"
    assert older.read_text() == ("x" * 60 + "\n") * 2
    assert path.read_text() == "after\nafter too\n"
    assert {file.stat().st_mode & 0o777 for file in (path, older)} == {0o600}


def test_a_file_that_cannot_be_written_is_no_reason_not_to_start(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    configure_logs(file=tmp_path / "missing" / "handrail.log")
    structlog.get_logger().info("harmless")

    assert "cannot be written" in capsys.readouterr().err
