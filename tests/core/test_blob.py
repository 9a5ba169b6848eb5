"""Blobs as parameters and results name them."""

from typing import Any

import pytest

from handrail.core.blob import Blob, find_blobs

SHA = "0123456789abcdef" * 4


def test_every_blob_of_a_call_is_found() -> None:
    first, second = Blob(SHA, 5), Blob(SHA[::-1], 7)
    params = {"path": "a", "content": first.as_json(), "more": second.as_json()}
    assert find_blobs(params) == {first, second}


@pytest.mark.parametrize(
    "value",
    [
        SHA,
        {"blob": SHA},
        {"blob": SHA, "size": -1},
        {"blob": SHA, "size": True},
        {"blob": SHA, "size": 1.0},
        {"blob": SHA.upper(), "size": 1},
        {"blob": SHA + "\n", "size": 1},
        {"blob": SHA, "size": 1, "name": "x"},
        [{"blob": SHA, "size": 1}],
    ],
)
def test_what_only_resembles_a_blob_is_none(value: Any) -> None:
    assert find_blobs({"content": value}) == frozenset()


def test_nothing_names_no_blob() -> None:
    assert find_blobs(None) == frozenset()
