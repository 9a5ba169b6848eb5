"""Addresses of remotes: which are reached, and what is shown of them."""

import subprocess
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.errors import CommandExecutionError
from handrail.executors.git.address import Address, is_address
from tests.executors.git.shell import PLAIN


@pytest.mark.parametrize(
    ("url", "place", "shown"),
    [
        ("https://x.example/a.git", "x.example:443", "https://x.example/a.git"),
        ("https://ada:pw@x.example:8443/a", "x.example:8443", "https://x.example:8443/a"),
        ("http://127.0.0.1:80/a", "127.0.0.1:80", "http://127.0.0.1:80/a"),
        ("http://[::1]:8080/a", "[::1]:8080", "http://[::1]:8080/a"),
        ("ssh://git@x.example:2222/a", "x.example:2222", "ssh://git@x.example:2222/a"),
        ("git@x.example:team/a.git", "x.example:22", "git@x.example:team/a.git"),
        ("work:team/a.git", "work:22", "work:team/a.git"),
        ("git@x.example:~ada/a.git", "x.example:22", "git@x.example:~ada/a.git"),
    ],
)
def test_an_address_names_its_host_and_is_shown_without_a_password(
    url: str, place: str, shown: str
) -> None:
    address = Address.of(url)

    assert (address.place, address.shown) == (place, shown)


@pytest.mark.parametrize(
    "url",
    [
        *("", "a.git", "../a.git", "/srv/a.git", "file:///srv/a.git", "git://x.example/a"),
        *("ftp://x.example/a", "http://x.example/a", "ext::sh -c id", "https://", "https:///a"),
        *("https://x.example:port/a", "https://x.example:99999/a", "https://[::1/a"),
        *("-oProxyCommand=id", "ssh://-oProxyCommand=id/a", "git@-x:a", "git@x.example:-a"),
        *("https://x.example/a\nb", "https://x.example/a b", "https://x.example\\@evil/a"),
        *("ssh://ada:pw@x.example/a", "https://x_y%2f.example/a", "git@x.example:a:b"),
        *("ssh://evil.example%2Fa@x.example/b", "ssh://x;touch${IFS}p;@x.example/a"),
        *(
            "ssh://u@x.example/a\u2028b",
            "https://x.example/a\x85b",
            "https://gr\u00f6\u00dfe.example/a",
        ),
        *("https://x.example/a?private_token=1", "https://x.example/a#b", "ssh://x.example/a%2fb"),
    ],
)
def test_other_addresses_are_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(CommandExecutionError, match=r"give it an address such as https://HOST"):
        Address.of(url)


def test_what_a_refusal_says_of_an_address_holds_no_login() -> None:
    with pytest.raises(CommandExecutionError) as refused:
        Address.of("http://ada:secret@x.example/a")

    assert "secret" not in refused.value.message


SHAPES = st.one_of(
    st.from_regex(r"(ssh://|git\+ssh://|)[a-z%@:/.\[\]0-9;$~_+-]{1,40}", fullmatch=True),
    st.from_regex(r"(ssh://)?[a-z%2F.]{1,9}@[a-z%.@:]{1,12}[:/][a-z@%/]{1,9}", fullmatch=True),
)


@settings(max_examples=60, deadline=None)
@given(SHAPES)
def test_ssh_is_given_the_host_that_is_shown(tmp_path_factory: Any, url: str) -> None:
    try:
        address = Address.of(url)
    except CommandExecutionError:
        return
    folder = tmp_path_factory.mktemp("ssh")
    (folder / "ssh").write_text(f'#!/bin/sh\necho "$@" > {folder}/told\n')
    (folder / "ssh").chmod(0o755)
    variables = {**PLAIN, "GIT_SSH": str(folder / "ssh"), "GIT_SSH_VARIANT": "ssh"}

    subprocess.run(["git", "ls-remote", "--", url], env=variables, capture_output=True, check=False)

    if not (folder / "told").exists():
        return  # git has found something wrong with it by itself.
    words = (folder / "told").read_text().split()
    assert f"{address.user}@{address.host}".removeprefix("@") in words


@pytest.mark.parametrize(
    ("word", "can_only_be"),
    [
        ("https://x.example/a", True),
        ("git@x.example:a", True),
        ("main:main", False),
        ("HEAD:refs/heads/x", False),
        ("origin", False),
    ],
)
def test_a_refspec_is_not_taken_for_an_address(word: str, *, can_only_be: bool) -> None:
    assert is_address(word) == can_only_be
