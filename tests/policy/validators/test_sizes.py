import pytest

from handrail.core.risk import Finding, forbidden
from handrail.policy.validators.sizes import SizeLimiter


@pytest.mark.parametrize(
    ("size", "findings"),
    [
        (0, []),
        (100_000_000, []),
        (
            100_000_001,
            [forbidden("size.file", "100,000,001 bytes is more than the 100,000,000 allowed")],
        ),
    ],
    ids=["empty", "at-the-limit", "one-more"],
)
def test_file_may_have_a_hundred_megabytes(size: int, findings: list[Finding]) -> None:
    assert SizeLimiter().check_file(size) == findings


@pytest.mark.parametrize(
    ("size", "findings"),
    [
        (0, []),
        (1_000_000, []),
        (
            1_000_001,
            [forbidden("size.params", "the parameters are 1,000,001 bytes, more than 1,000,000")],
        ),
    ],
    ids=["empty", "at-the-limit", "one-more"],
)
def test_parameters_may_have_one_megabyte(size: int, findings: list[Finding]) -> None:
    assert SizeLimiter().check_params(size) == findings


def test_limits_can_be_set() -> None:
    limiter = SizeLimiter(max_file_bytes=3, max_params_bytes=5)
    assert (limiter.check_file(3), limiter.check_params(5)) == ([], [])
    assert [found.rule for found in limiter.check_file(4)] == ["size.file"]
    assert [found.rule for found in limiter.check_params(6)] == ["size.params"]
