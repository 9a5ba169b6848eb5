"""Spans of whole buckets, and numbers rounded so that their order stays."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from handrail.core.analytics import Bucket, Span, hour_of, start_of, two_digits
from handrail.core.errors import BadInput

NOON = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)
DAY = timedelta(days=1)


def test_a_span_is_made_of_the_buckets_in_which_its_moments_lie() -> None:
    by_hour = Span.between(NOON - timedelta(hours=2), NOON, Bucket.HOUR)
    by_day = Span.between(NOON - DAY, NOON, Bucket.DAY)

    assert [start_of(hour).hour for hour in by_hour.starts] == [10, 11, 12]
    assert [start_of(hour) for hour in by_day.starts] == [
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 2, tzinfo=UTC),
    ]


def test_a_span_that_ends_with_a_bucket_holds_none_behind_it() -> None:
    midnight = datetime(2026, 1, 2, tzinfo=UTC)

    assert len(Span.between(midnight - DAY, midnight, Bucket.DAY).starts) == 1
    assert len(Span.between(midnight - DAY, midnight, Bucket.HOUR).starts) == 24


def test_moments_of_any_time_zone_are_the_same_hours() -> None:
    elsewhere = timezone(timedelta(hours=5, minutes=30))

    assert hour_of(NOON.astimezone(elsewhere)) == hour_of(NOON)


@pytest.mark.parametrize(
    ("start", "end", "bucket", "words"),
    [
        pytest.param(NOON, NOON, Bucket.HOUR, "not before", id="nothing-between"),
        pytest.param(NOON, NOON - DAY, Bucket.DAY, "not before", id="backwards"),
        pytest.param(NOON - 32 * DAY, NOON, Bucket.HOUR, "31 days", id="too-many-hours"),
        pytest.param(NOON - 367 * DAY, NOON, Bucket.DAY, "366 days", id="too-many-days"),
        pytest.param(
            datetime.min.replace(tzinfo=UTC),
            datetime.min.replace(tzinfo=UTC) + DAY,
            Bucket.DAY,
            "between 1970 and 3000",
            id="long-ago",
        ),
        pytest.param(
            datetime.max.replace(tzinfo=UTC) - DAY,
            datetime.max.replace(tzinfo=UTC),
            Bucket.DAY,
            "between 1970 and 3000",
            id="far-away",
        ),
    ],
)
def test_what_is_no_span_is_refused_in_words(
    start: datetime, end: datetime, bucket: Bucket, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        Span.between(start, end, bucket)


def test_two_digits_are_kept_and_so_is_the_order() -> None:
    numbers = [0, 7, 99, 100, 104, 105, 994, 995, 42_317, 987_654]

    rounded = [two_digits(number) for number in numbers]

    assert rounded == [0, 7, 99, 100, 100, 110, 990, 1_000, 42_000, 990_000]
    assert [two_digits(n) for n in range(20_000)] == sorted(two_digits(n) for n in range(20_000))
