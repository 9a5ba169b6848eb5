import re
from datetime import UTC, datetime, timedelta

import pytest

from handrail.core.ids import mint

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("prefix", ["exe", "prj", "cli"])
def test_id_says_what_it_names(prefix: str) -> None:
    assert re.fullmatch(rf"{prefix}_[0-9a-f]{{32}}", mint(prefix, NOW))


def test_id_begins_with_its_millisecond() -> None:
    assert mint("exe", datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)).startswith(
        "exe_0000000005dc"
    )


def test_ids_sort_by_the_time_they_were_made() -> None:
    moments = [NOW + timedelta(milliseconds=n) for n in (0, 1, 2, 999, 1_000, 86_400_000, 10**11)]
    ids = [mint("exe", moment) for moment in moments]
    assert ids == sorted(ids)


def test_ids_of_one_moment_are_all_different() -> None:
    assert len({mint("exe", NOW) for _ in range(10_000)}) == 10_000
