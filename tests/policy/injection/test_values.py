"""Values whose origin a person should know are found again, however they are written."""

from typing import Any

import pytest

from handrail.policy.injection.values import Kind, hosts_in, in_one_form, notable_values


def kinds_of(params: dict[str, Any], large: str | None = None) -> dict[str, Kind]:
    return {value.shown: value.kind for value in notable_values(params, large=large)}


def tells_of_host(text: str, host: str) -> bool:
    (value,) = hosts_in({}, [host])
    return value.stands_in(in_one_form(text))


def tells(text: str, **params: Any) -> list[str]:
    form = in_one_form(text)
    return [value.shown for value in notable_values(params) if value.stands_in(form)]


def test_urls_hosts_addresses_paths_and_commands_are_notable() -> None:
    assert kinds_of(
        {
            "command": "curl",
            "args": ["-s", "https://Collect.example/x?a=1", "--mail=eve@e.example", "/etc/passwd"],
        }
    ) == {
        "https://Collect.example/x?a=1": Kind.URL,
        "collect.example": Kind.HOST,
        "eve@e.example": Kind.ADDRESS,
        "/etc/passwd": Kind.PATH,
        "curl -s https://Collect.example/x?a=1 --mail=eve@e.example /etc/passwd": Kind.COMMAND,
    }


@pytest.mark.parametrize("words", ["install", "implementation", "--verbose", "-rf", "true", ""])
def test_plain_words_and_flags_are_not(words: str) -> None:
    assert kinds_of({"args": [words]}) == {}


def test_long_words_unlike_prose_and_values_of_flags_are() -> None:
    assert kinds_of({"args": ["left-padd", "--index=mirror-7.pkg"]}) == {
        "left-padd": Kind.ARGUMENT,
        "mirror-7.pkg": Kind.ARGUMENT,
        "left-padd --index=mirror-7.pkg": Kind.COMMAND,
    }


def test_of_the_content_of_a_file_only_urls_and_addresses_count() -> None:
    content = "import os\nrun src/tool/main.py\n# see https://e.example/a.\n"

    assert kinds_of({"path": "a.py", "content": content}, large="content") == {
        "https://e.example/a": Kind.URL,
        "e.example": Kind.HOST,
    }


@pytest.mark.parametrize(
    "text",
    [
        "see collect.example",
        "COLLECT.EXAMPLE.",
        "(https://collect.example/)",
        "http://user@collect.example:8080/x",
        "col\u200blect.example",
        "collect%2Eexample",
        "collect[.]example",
        "hxxps://collect(dot)example",
        "&#99;ollect.example",
        "\uff43\uff4f\uff4c\uff4c\uff45\uff43\uff54\uff0eexample",
        "x.collect.example",
        "mail eve@collect.example",
    ],
)
def test_a_host_is_found_however_it_is_written(text: str) -> None:
    assert tells_of_host(text, "collect.example:443")


@pytest.mark.parametrize(
    "text",
    ["recollect.example", "collect.example.org", "collect.examples", "collect example", "collect"],
)
def test_another_host_is_not_this_one(text: str) -> None:
    assert not tells_of_host(text, "collect.example")


def test_a_domain_tells_of_what_lies_in_it() -> None:
    assert tells_of_host("send it to collect.example", "c2VjcmV0.collect.example")
    assert not tells_of_host("an example", "collect.example")


def test_an_international_name_is_found_as_people_write_it() -> None:
    assert tells_of_host("schick es an böse.example", "xn--bse-sna.example")


def test_an_address_in_figures_is_no_part_of_another() -> None:
    assert tells_of_host("at 192.0.2.1, now", "192.0.2.1:443")
    assert not tells_of_host("at 192.0.2.11", "192.0.2.1")
    assert tells_of_host("at [2001:db8::1]:443", "[2001:db8::1]:443")


def test_commands_and_paths_are_found_in_a_text() -> None:
    text = "Setup:\n\n    curl -s\n https://e.example/i.sh\n then look at /opt/tool/bin."

    assert tells(text, command="curl -s https://e.example/i.sh") == [
        "https://e.example/i.sh",
        "e.example",
        "curl -s https://e.example/i.sh",
    ]
    assert tells(text, path="/opt/tool/bin") == ["/opt/tool/bin"]
    assert tells(text, path="/opt/tool/bi") == []


def test_a_call_with_very_many_values_is_looked_at_so_far() -> None:
    many = " ".join(f"https://h{n}.example/" for n in range(10_000))

    assert len(notable_values({"body": many})) == 100
    assert len(hosts_in({"body": many})) == 100
    deep: Any = "https://e.example/"
    for _ in range(50):
        deep = [deep]
    assert notable_values({"body": deep}) == []
