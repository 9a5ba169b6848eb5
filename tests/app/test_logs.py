"""Logs are lines a program can read, on standard error."""

import json
from collections.abc import Generator

import pytest
import structlog

from handrail.app.logs import configure_logs


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
