from typing import Any

import pytest

from handrail.core.box import Profile
from handrail.core.digest import digest_call, digest_request
from handrail.core.stage import Stage
from handrail.core.verdict import Plan

BASE: dict[str, Any] = {
    "salt": "s1",
    "tool_name": "read_file",
    "params_json": '{"path":"a"}',
    "plan": Plan(paths=("a",)),
    "facts": None,
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("salt", "s2"),
        ("tool_name", "write_file"),
        ("params_json", '{"path":"b"}'),
        ("plan", Plan(paths=("b",))),
        ("plan", Plan(argv=(("a",),))),
        ("plan", Plan(hosts=("a",))),
        ("plan", Plan(paths=("a",), profiles=(Profile.READ,))),
        ("plan", Plan()),
        ("facts", {"sha256": "0"}),
        ("facts", {}),
    ],
    ids=["salt", "tool", "words", "path", "argv", "host", "box", "no-plan", "facts", "empty-facts"],
)
def test_digest_of_a_call_changes_with_everything_it_covers(field: str, value: Any) -> None:
    assert digest_call(**{**BASE, field: value}) != digest_call(**BASE)


def test_the_text_that_a_command_reads_is_covered() -> None:
    def digest(*texts: str | None) -> str:
        stages = [Stage(("cat",), Profile.READ, stdin=text) for text in texts]
        return digest_call("s", "t", "{}", Plan.of(stages))

    plans = [("a",), ("b",), ("",), (None,), ("a", None), (None, "a"), (None, None)]
    assert len({digest(*texts) for texts in plans}) == len(plans)


def test_argv_is_covered_word_by_word() -> None:
    one = digest_call("s", "t", "{}", Plan(argv=(("rm", "a b"),)))
    two = digest_call("s", "t", "{}", Plan(argv=(("rm", "a", "b"),)))
    assert one != two


@pytest.mark.parametrize(
    "other",
    [("s2", "read_file", "{}"), ("s1", "write_file", "{}"), ("s1", "read_file", '{"a":1}')],
    ids=["salt", "tool", "words"],
)
def test_digest_of_a_request_changes_with_everything_it_covers(
    other: tuple[str, str, str],
) -> None:
    assert digest_request(*other) != digest_request("s1", "read_file", "{}")


def test_same_words_give_the_same_digest() -> None:
    assert digest_call(**BASE) == digest_call(**BASE)
    assert digest_request("s", "t", "{}") == digest_request("s", "t", "{}")


def test_digests_are_the_known_keyed_hashes() -> None:
    # Worked out by hand with openssl: client and server may be of different versions.
    params_json = '{"path":"a"}'
    plan = Plan(("a",), (("ls", "-l"),), ("example.org",), (Profile.READ,))
    assert digest_request("salt", "read_file", params_json) == (
        "e543a501a1ea5a6514dddcf584fc8a7bce23655b1ec619be28f28357494ac714"
    )
    assert digest_call("salt", "read_file", params_json, plan, {"sha256": "0"}) == (
        "169281451eb9852e867936724e3193c9fd3dabafcd78f76e0cf5434b5d349db4"
    )


def test_digest_of_a_request_is_not_that_of_the_call() -> None:
    assert digest_request("s", "t", "{}") != digest_call("s", "t", "{}", Plan())
