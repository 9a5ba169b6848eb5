"""Client and server may differ by one minor; otherwise one sentence says what to upgrade."""

import pytest

from handrail.wire.version import check_wire_version


@pytest.mark.parametrize("server", ["1.1", "1.2", "1.3"])
def test_one_minor_apart_is_near_enough(server: str) -> None:
    assert check_wire_version(server, "1.2") is None


@pytest.mark.parametrize(
    ("server", "older"),
    [("1.0", "the server"), ("0.9", "the server"), ("1.4", "Handrail on this machine"),
     ("2.0", "Handrail on this machine")],
)  # fmt: skip
def test_further_apart_the_older_one_is_to_be_upgraded(server: str, older: str) -> None:
    expected = f"the server speaks wire version {server}, and this program 1.2: upgrade {older}"
    assert check_wire_version(server, "1.2") == expected


@pytest.mark.parametrize("server", ["", "one", "1", "1.2.3", "9" * 5_000])
def test_what_is_no_version_does_not_fit(server: str) -> None:
    assert check_wire_version(server, "1.2") is not None
