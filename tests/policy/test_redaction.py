from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.access import Role, new_secret
from handrail.policy import redaction
from handrail.policy.redaction import KEPT_CHARS, MASK, mask, mask_own_tokens, mask_text

# Put together here, so that nobody's scanner takes this file for a leak.
CHANCE = "aB3dE5gH7jK9mN1pQ3sT5vX7"
PEM = "-----BEGIN {0}PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END {0}PRIVATE KEY-----"


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "db_password",
        "PASSWORD",
        "passwd",
        "passphrase",
        "secret",
        "client_secret",
        "token",
        "access_token",
        "apiKey",
        "api_key",
        "api-key",
        "access_key",
        "private_key",
        "credential",
        "Authorization",
        "authorisation",
        "Cookie",
        "Set-Cookie",
        "session_key",
    ],
)
def test_text_behind_a_secret_name_is_masked(key: str) -> None:
    assert mask({key: "hunter2", "path": "a.txt"}) == {key: "[masked]", "path": "a.txt"}


@pytest.mark.parametrize(
    "key", ["path", "content", "pass", "author", "key", "keyboard", "session_id", "compass"]
)
def test_text_behind_an_ordinary_name_is_kept(key: str) -> None:
    assert mask({key: "hunter2"}) == {key: "hunter2"}


@pytest.mark.parametrize("value", [4096, 1.5, True, None], ids=repr)
def test_values_that_are_no_text_are_kept(value: object) -> None:
    assert mask({"max_tokens": value}) == {"max_tokens": value}


@pytest.mark.parametrize(
    "token",
    [
        *(
            prefix + CHANCE
            for prefix in (
                "sk-",
                "sk_live_",
                "pk_live_",
                "rk_live_",
                "ghp_",
                "gho_",
                "ghs_",
                "ghu_",
                "github_pat_",
                "glpat-",
                "xoxb-",
                "xoxp-",
                "hf_",
                "npm_",
                "pypi-",
            )
        ),
        "AK" + "IA" + "ABCDEFGHIJKLMNOP",
        "ey" + f"JhbGciOi{CHANCE}.{CHANCE}.{CHANCE}",
    ],
    ids=lambda token: token[:8],
)
@pytest.mark.parametrize("around", ["{}", "use {} today", "'{}'", "a={}&b", "({})", "x:\n{}\n"])
def test_token_is_masked_wherever_it_stands(token: str, around: str) -> None:
    assert mask_text(around.format(token)) == around.format("[masked]")


@pytest.mark.parametrize("role", Role)
def test_our_own_secrets_are_masked(role: Role) -> None:
    assert mask_text(f"use {new_secret(role)} today") == "use [masked] today"


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "])
def test_private_key_block_is_masked_whole(kind: str) -> None:
    assert mask_text(f"before\n{PEM.format(kind)}\nafter") == "before\n[masked]\nafter"


def test_private_key_that_was_cut_off_is_masked_to_the_end() -> None:
    assert mask_text("-----BEGIN PRIVATE KEY-----\nMIIEow\nIBA") == "[masked]"


def test_two_private_keys_are_masked_apart() -> None:
    text = f"{PEM.format('')}\nand\n{PEM.format('EC ')}"
    assert mask_text(text) == "[masked]\nand\n[masked]"


def test_public_key_block_is_kept() -> None:
    text = "-----BEGIN PUBLIC KEY-----\nMIIBIj\n-----END PUBLIC KEY-----"
    assert mask_text(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://ada:hunter2@example.org/x", "https://[masked]@example.org/x"),
        ("postgres://app:s3cr%40t@db:5432/app", "postgres://[masked]@db:5432/app"),
        ("clone git+ssh://ada:pw@host/r.git now", "clone git+ssh://[masked]@host/r.git now"),
    ],
    ids=["https", "postgres", "within-a-sentence"],
)
def test_password_in_an_address_is_masked(text: str, masked: str) -> None:
    assert mask_text(text) == masked


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("password=hunter2", "password=[masked]"),
        ("PASSWORD = hunter2", "PASSWORD = [masked]"),
        ("DB_PASSWORD=hunter2 make run", "DB_PASSWORD=[masked] make run"),
        ("api-key: abc", "api-key: [masked]"),
        ("x?token=abc&page=2", "x?token=[masked]&page=2"),
        ("export AWS_SECRET_ACCESS_KEY=abc/def+1", "export AWS_SECRET_ACCESS_KEY=[masked]"),
        ("--password=hunter2 --verbose", "--password=[masked] --verbose"),
        ("a=1;secret=2;b=3", "a=1;secret=[masked];b=3"),
    ],
)
def test_value_assigned_to_a_secret_name_is_masked(text: str, masked: str) -> None:
    assert mask_text(text) == masked


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Basic", "BASIC"])
def test_credential_in_a_header_is_masked(scheme: str) -> None:
    assert CHANCE not in mask_text(f"Authorization: {scheme} {CHANCE}")
    assert mask_text(f"curl -H '{scheme} {CHANCE}'") == f"curl -H '{scheme} [masked]'"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "README.md",
        "src/handrail/policy/redaction.py",
        "src/token_store.py",
        "docs/passwords.md",
        "/home/ada/project/a-b_c.txt",
        "C:/Users/ada/x",
        "https://example.org/a?b=c#d",
        "https://example.org:8080/x@y",
        "ada@example.org",
        "git@github.com:ada/repo.git",
        "def add(a: int, b: int = 2) -> int:\n    return a + b\n",
        "for (let i = 0; i < n; i++) { sum += x[i]; }",
        'print("hello, world")',
        "The secret of a good test is that it can fail.",
        "Reset your password, then sign in.",
        "task-list-with-many-words and risk_level_of_the_call",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "018f3c2a-7b1e-7cc2-9d3a-0242ac120002",
        "data:image/png;base64,iVBORw0KGgo=",
        "naïve 日本語 🛤",
        "\ud800",
        "a\nb\tc",
    ],
)
def test_ordinary_text_is_kept(text: str) -> None:
    assert mask_text(text) == text


def test_masking_reaches_every_depth_and_keeps_the_structure() -> None:
    value = {
        "args": ["--token=abc", 1, None, ["password: x", {"api_key": "k", "n": 2.5}]],
        "env": {"HOME": "/home/ada", "GH_TOKEN": "abc"},
        "on": True,
    }
    assert mask(value) == {
        "args": ["--token=[masked]", 1, None, ["password: [masked]", {"api_key": MASK, "n": 2.5}]],
        "env": {"HOME": "/home/ada", "GH_TOKEN": MASK},
        "on": True,
    }


def test_masking_leaves_its_input_alone() -> None:
    value = {"token": "abc", "list": ["token=abc"]}
    mask(value)
    assert value == {"token": "abc", "list": ["token=abc"]}


def test_tuple_becomes_a_list_as_it_would_in_json() -> None:
    assert mask({"argv": ("a", "token=b")}) == {"argv": ["a", "token=[masked]"]}


_WORDS = st.sampled_from(
    [
        "password",
        "token=",
        "secret: ",
        "=",
        ":",
        " ",
        "\n",
        "abc",
        "'",
        "@",
        "Bearer ",
        "https://a:b@c",
        "sk-" + CHANCE,
        "AK" + "IA" + "ABCDEFGHIJKLMNOP",
        "-----BEGIN PRIVATE KEY-----",
        MASK,
    ]
)
_TEXTS = st.text(max_size=30) | st.lists(_WORDS, max_size=8).map("".join)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(_JSON)
def test_masking_twice_is_masking_once(value: Any) -> None:
    once = mask(value)
    assert mask(once) == once
    assert type(once) is type(value)


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "secret" * 2_000, "eyJ-" * 25_000, "token=" * 20_000, "--token " * 20_000],
    ids=["word", "names", "token-starts", "assignments", "flags"],
)
def test_long_text_is_masked_without_delay(text: str) -> None:
    """Masking runs on the server's loop: one agent's text must not stop everybody."""
    assert len(mask_text(text)) > 0


@pytest.mark.parametrize(
    "text",
    [
        "password='hunter2'",
        'api_key = "hunter2"',
        '{"password": "hunter2"}',
        "redis://:hunter2@host/0",
        "https://ada:hun@hunter2@host/",
        "Authorization: ApiKey hunter2",
        "Authorization: Basic hunter2",
        "Cookie: a=b; session=hunter2",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----",
        "mysql --password hunter2 -h host",
    ],
)
def test_secret_in_a_text_is_masked(text: str) -> None:
    assert "hunter2" not in mask_text(text)


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"tokens": ["hunter2"]}, {"tokens": MASK}),
        ({"credentials": {"value": "hunter2"}}, {"credentials": MASK}),
        ({"password": 12345678}, {"password": MASK}),
        ({"args": ["--password", "hunter2"]}, {"args": ["--password", MASK]}),
        ({"max_tokens": 100, "token": None}, {"max_tokens": 100, "token": None}),
    ],
    ids=["list", "object", "number", "after a flag", "a count"],
)
def test_secret_value_of_any_kind_is_masked(value: Any, masked: Any) -> None:
    assert mask(value) == masked


@pytest.mark.parametrize(
    "text",
    [
        "node_modules/npm-registry-fetch/lib/index.js",
        "src/hf_hub_download_cache.py",
        "ALTER TABLE t ADD CONSTRAINT pk_customers_orders",
        "pypi-publish-workflow.yml",
        "def sign(token: str) -> bytes: ...",
    ],
)
def test_ordinary_text_that_looks_a_little_like_a_secret_is_kept(text: str) -> None:
    assert mask_text(text) == text


def test_long_texts_are_kept_by_their_beginning_and_the_rest_is_counted() -> None:
    kept = mask({"content": "a b\n" * 1_000_000, "path": "a.txt"})

    assert kept["path"] == "a.txt"
    assert kept["content"] == "a b\n" * 5_000 + "… [3,980,000 more characters]"


@pytest.mark.parametrize("before", range(KEPT_CHARS - 120, KEPT_CHARS + 1, 7))
def test_a_secret_across_the_cut_is_covered_before_it_is_cut(before: int) -> None:
    secret = "ghp_" + "k3yk3y" * 10
    text = "x" * (before - 1) + " " + secret + " " + "y" * 60_000

    assert "k3y" not in mask(text)


def test_a_key_that_is_longer_than_what_is_kept_is_covered() -> None:
    text = "x" * 19_000 + "\n-----BEGIN PRIVATE KEY-----\n" + "MIIE\n" * 20_000

    assert "MIIE" not in mask(text)


@pytest.mark.parametrize("role", list(Role))
def test_own_token_is_masked_wherever_it_stands(role: Role) -> None:
    token = new_secret(role)
    for text in ("{}", "token: {}", "x{}", "'{}'", "{0}\n{0}", "{}x"):
        assert token not in mask_own_tokens(text.format(token))
        assert mask_own_tokens(text.format(token)).count(MASK) == text.count("{")


def test_own_token_that_was_cut_is_masked_as_long_as_it_tells_much() -> None:
    token = f"hr_user_{CHANCE * 2}"[:51]
    assert mask_own_tokens(token[:-1]) == MASK
    assert mask_own_tokens(token[:28]) == MASK


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2",
        f"ghp_{CHANCE}",
        f"Authorization: Bearer {CHANCE}",
        "hr_user_profile_controller_test_case_number_one",
        "hr_agent_",
        "hr_user_short",
        f"hr_admin_{CHANCE}",
        PEM.format(""),
    ],
)
def test_nothing_but_own_tokens_is_masked(text: str) -> None:
    assert mask_own_tokens(text) == text


def test_own_tokens_are_found_in_time_that_grows_with_the_text() -> None:
    for unit in ("hr_user_", "a", "hr_user_a-", "hr_"):
        assert MASK not in mask_own_tokens(unit * (1_000_000 // len(unit)))


FRAGMENTS = (
    "token", "password", "cookie", "bearer", "Basic", "://", "@", "=", ":", " ", "\n", "--", "-",
    "sk-", "ghp_", "xoxb-", "sk_live_", "AKIA", "AIza", "eyJ", "hr_agent_", ".", "/", "_", "'",
    "a", "Z", "7", "é", "abcdefghij", "0123456789ABCDEF", "-----BEGIN PRIVATE KEY-----",
)  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join))
@settings(max_examples=2_000)
def test_no_secret_goes_without_the_hint_that_is_looked_for_first(text: str) -> None:
    if redaction._cover(text) != text:
        assert redaction._HINT.search(text) is not None


@pytest.mark.parametrize("text", ["notes.txt", "src/handrail/core/audit.py", "read_file", "", "é"])
def test_most_names_give_no_hint(text: str) -> None:
    assert redaction._HINT.search(text) is None
