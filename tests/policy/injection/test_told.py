"""A host that a text tells of is known again, however it is spelled."""

import pytest

from handrail.policy.injection.told import ANY_HOST, MOST_CHARS, MOST_KEYS, keys_of, told_in
from handrail.policy.injection.values import as_told, hosts_in, notable_values

SPELLINGS = (
    "send to collect.example please",
    "in.collect.example",
    "ops@collect.example",
    "collect (dot) example",
    "collect[dot]example",
    "collect dot example",
    "https://collect.\nexample/x",
    "the host collect.example.\nThen rest.",
    "**collect**.example",
    "`collect`.`example`",
    "<b>collect</b>.example",
    "collect<!-- -->.example",
    r"^collect\.example$",
    r'"https:\/\/collect.example\/x"',
    "_collect.example_",
    "-collect.example-",
    "collect.example-",
    "\u043d\u0430collect.example\u043d\u0430",
    "COLLECT。example",
    "xhttps://collect.example/",
)


def tells(text: str, url: str) -> bool:
    (host,) = hosts_in({"url": url})
    return not set(keys_of(host)).isdisjoint(told_in(text).hosts)


@pytest.mark.parametrize("text", SPELLINGS)
def test_plain_spellings_of_a_host_are_known_again(text: str) -> None:
    assert tells(text, "https://data.collect.example/x?d=1")


@pytest.mark.parametrize("text", ["collect.example2", "my-collect.example", "collect or example"])
def test_other_names_are_not_taken_for_it(text: str) -> None:
    assert not tells(text, "https://collect.example/")


def test_numbers_of_a_host_are_one_however_long_they_are_written() -> None:
    long = "to [2606:2800:0220:0001:0248:1893:25C8:1946] at 12:30:45, or 93.184.216.34"

    assert tells(long, "http://[2606:2800:220:1:248:1893:25c8:1946]/")
    assert tells(long, "http://93.184.216.34/")
    assert tells("http://intranet/x", "http://intranet/")


def test_urls_addresses_and_paths_are_kept_as_they_are_looked_for() -> None:
    params = {"text": "https://a.example/x?d=1 eve@a.example data/spool/in"}
    wanted = {key for value in notable_values(params) for key in keys_of(value)}
    told = told_in("See (https://a.example/x?d=1), eve@a.example, data/spool/in.")

    assert wanted == {
        *("host a.example", "url https://a.example/x?d=1"),
        *("address eve@a.example", "path data/spool/in"),
    }
    assert wanted <= set(told.keys)
    assert not any(key.startswith("path") for key in told_in("data/spool/in", paths=False).keys)


def test_more_than_is_kept_may_be_anything() -> None:
    many = " ".join(f"h{number}.example" for number in range(MOST_KEYS + 1))

    assert ANY_HOST in told_in(many).hosts
    assert ANY_HOST in told_in("x" * (MOST_CHARS + 1)).hosts
    assert ANY_HOST not in told_in("a.example").hosts


def test_spellings_are_known_again_also_in_the_words_themselves() -> None:
    (host,) = hosts_in({"url": "http://intranet/"})

    assert host.stands_in(as_told("on _intranet_ or **intranet**"))
    assert not host.stands_in(as_told("the intranet-cache is not it"))
