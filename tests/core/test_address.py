"""What is said to some addresses stays on this machine."""

import pytest

from handrail.core.address import is_loopback


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "::1"])
def test_these_stay_on_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.0.1", "localhost.example.org", "example.org", "", "127.1"]
)
def test_anything_else_may_be_heard_elsewhere(host: str) -> None:
    assert not is_loopback(host)
