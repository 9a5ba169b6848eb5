"""A file is known again by its state, also after a way through JSON."""

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from handrail.core.hands import FileContent, FileState

_CONTENTS = st.builds(
    FileContent, st.binary(max_size=50), st.integers(0, 10**9), st.integers(0, 0o7777)
)


def test_the_state_of_a_file_is_its_content_and_its_permissions() -> None:
    state = FileContent(b"hello", 5, 0o755).state

    assert state == FileState(True, hashlib.sha256(b"hello").hexdigest(), 0o755)
    assert state.as_facts() == {"exists": True, "sha256": state.sha256, "mode": "0755"}


def test_absence_is_a_state_too() -> None:
    assert FileState(exists=False).as_facts() == {"exists": False}
    assert FileState.from_facts({"exists": False}) == FileState(exists=False)


def test_an_empty_file_is_not_an_absent_one() -> None:
    empty = FileContent(b"", 0, 0).state

    assert FileState.from_facts(empty.as_facts()) == empty != FileState(exists=False)


@given(_CONTENTS)
def test_a_state_comes_back_from_its_facts(content: FileContent) -> None:
    sent = json.loads(json.dumps(content.state.as_facts()))

    assert FileState.from_facts(sent) == content.state


@given(_CONTENTS, _CONTENTS)
def test_facts_are_the_same_exactly_when_content_and_permissions_are(
    one: FileContent, other: FileContent
) -> None:
    alike = (one.data, one.mode) == (other.data, other.mode)

    assert (one.state.as_facts() == other.state.as_facts()) is alike
