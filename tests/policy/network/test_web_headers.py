import pytest

from handrail.core.risk import RiskLevel
from handrail.policy.network.web_headers import validate_headers


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Accept", "application/json"),
        ("X-Api-Key", "a b\tc"),
        ("Authorization", "Bearer x"),
        ("If-None-Match", '"abc"'),
        ("Empty", ""),
    ],
)
def test_what_says_something_may_be_sent(name: str, value: str) -> None:
    assert validate_headers([(name, value)]) == []


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("Host", "127.0.0.1", "is set by Handrail itself"),
        ("CONNECTION", "upgrade", "is set by Handrail itself"),
        ("proxy-anything", "x", "is set by Handrail itself"),
        ("Transfer-Encoding", "chunked", "is set by Handrail itself"),
        ("Content-Length", "0", "is set by Handrail itself"),
        ("Accept-Encoding", "br", "is set by Handrail itself"),
        ("Upgrade", "h2c", "is set by Handrail itself"),
        ("X-HTTP-Method-Override", "DELETE", "would change the method"),
        ("X-A", "b\r\nHost: c", "has a line break"),
        ("X-A", "b\nc", "has a line break"),
        ("X-A", "b\0", "has a line break or another character"),
        ("X-A", "ü", "has a line break or another character"),
        ("X-A", "x" * 8_001, "is longer than 8,000 characters"),
        ("X A", "b", "has a name that a header cannot have"),
        ("X:", "b", "has a name that a header cannot have"),
        ("", "b", "has a name that a header cannot have"),
        ("Höst", "b", "has a name that a header cannot have"),
        ("X\r\nHost", "b", "has a name that a header cannot have"),
    ],
)
def test_what_steers_poses_or_breaks_out_is_refused(name: str, value: str, why: str) -> None:
    [found] = validate_headers([(name, value)])
    assert (found.rule, found.risk) == ("http.header", RiskLevel.FORBIDDEN)
    assert why in found.reason
    assert "\n" not in found.reason


def test_more_headers_than_anybody_needs_are_refused() -> None:
    [found] = validate_headers([(f"X-{number}", "y") for number in range(51)])
    assert found.reason == "51 headers are more than the 50 allowed"
