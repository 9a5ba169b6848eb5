"""A password in a sentence is not shown on a card, and a sentence about passwords is."""

import pytest

from handrail.policy.prose import mask_told
from handrail.policy.redaction import MASK, mask_words
from handrail.tools.builtin.execute_command import ExecuteCommand


@pytest.mark.parametrize(
    "secret",
    [
        *("hunter2", "hunter", "correct-horse-battery", "Tr0ub4dor", "S3cret!", "12345678"),
        *("abcdefghijklmnopqrstuvwxyz", "aGVsbG8=", "x"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "Set password: {} for the test user",
        "the Password: {}",
        "db_password: {}, host: x",
        "(passphrase: {})",
        "one line\nsecret: {}\nanother",
    ],
)
def test_a_password_in_a_sentence_is_covered(text: str, secret: str) -> None:
    assert mask_words(["git", "commit", "-m", text.format(secret)])[3] == text.format(MASK)


@pytest.mark.parametrize(
    "text",
    [
        "password: see the vault",
        "Forgotten password: ask your operator",
        "password: must have eight characters",
        "unexpected token: semicolon",
        "def sign_in(password: str, token: bytes) -> None",
        "Fix the cookie: banner",
        "password: {}",
        "token: evil(1)",
        "secret: $(cat x)",
    ],
)
def test_a_sentence_about_passwords_is_shown(text: str) -> None:
    assert mask_words(["git", "commit", "-m", text])[3] == text


def test_nothing_that_a_shell_would_run_is_covered() -> None:
    line = "echo $X | xargs -I token: evil1 token:"
    assert mask_words(["/usr/bin/bash", "-c", line])[2] == line
    argv = ("xargs", "-I", "password:", "evil1")
    assert mask_words(argv) == argv


def test_the_sentence_of_the_card_covers_it_too() -> None:
    tool = ExecuteCommand()
    params = tool.params.model_validate(
        {"command": "git", "args": ["commit", "-m", "Set password: hunter2 for the test user"]}
    )
    assert tool.preview(params) == f"Run git commit -m 'Set password: {MASK} for the test user'"


def test_in_very_long_text_it_is_covered_all_the_same() -> None:
    told = mask_told("password: hunter2 " * 20_000 + "password:" + " " * 100_000, MASK)
    assert told.count(MASK) == 20_000
    assert "hunter2" not in told
