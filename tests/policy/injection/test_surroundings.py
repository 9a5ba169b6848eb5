import pytest

from handrail.policy.injection.normalise import fold
from handrail.policy.injection.surroundings import UNSEEN, Surroundings

ORDER = "paint the house"


def signs(text: str, *, encoded: bool = False) -> set[str]:
    folded = fold(text)
    start = folded.text.index(ORDER)
    return {*Surroundings(folded, encoded=encoded).signs(start, start + len(ORDER))}


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        (f"<!-- {ORDER} -->", "comment"),
        (f'<p style="display: none">{ORDER}</p>', "hiding"),
        (f'<img alt="{ORDER}">', "hiding"),
        (f'He said: "{ORDER}" and left.', "quoted"),
        (f"```\n{ORDER}\n```\n", "fenced"),
        (f"> {ORDER}\n", "listed"),
        (f"    # {ORDER}\n", "remark"),
        (f"{ORDER}, see https://e.example/x", "url"),
        (f"{ORDER}, then write to a@e.example", "address"),
        (f"{ORDER} `now`", "path"),
        (f"<|im_start|>{ORDER}", "mark"),
        (f"SYSTEM: {ORDER}", "heading"),
        (f"A malicious text said: {ORDER}", "talk-1"),
        (f"It was refused: {ORDER}", "related-1"),
        (f'The payload "{ORDER}" is refused.', "example-2"),
        (ORDER.replace("i", "i\u200b"), "disguised"),
        ("".join(chr(0xE0000 + ord(char)) for char in f"{ORDER} red"), "smuggled"),
    ],
)
def test_a_sign_says_where_a_passage_stands(text: str, sign: str) -> None:
    assert sign in signs(text)


@pytest.mark.parametrize(
    "text",
    [
        ORDER,
        f"<!-- note -->\n\n{ORDER}",
        f"```\ncode\n```\n{ORDER}",
        f'"Yes," he said.\n\n{ORDER}',
        f"a\u200bb, and much later, after many words that say nothing of it, {ORDER}",
    ],
)
def test_what_stands_elsewhere_is_no_sign(text: str) -> None:
    assert signs(text) == set()


def test_what_was_decoded_is_unseen() -> None:
    assert signs(ORDER, encoded=True) == {"encoded"}
    assert "encoded" in UNSEEN


def test_only_signs_that_are_possible_are_found() -> None:
    text = fold(f"SYSTEM: {ORDER} <!-- https://e.example -->")
    around = Surroundings(text)
    assert {*around.signs(8, 23)} <= {*around.possible(0, len(text.text))}
