import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.risk import Finding
from handrail.policy.network.hosts import Host
from handrail.policy.network.urls import MAX_URL_CHARS, WebAddress, read_url


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://example.com", WebAddress("http", Host("example.com", 80), "/")),
        ("HTTPS://Example.COM/A", WebAddress("https", Host("example.com", 443), "/A")),
        ("https://example.com?q=1", WebAddress("https", Host("example.com", 443), "/?q=1")),
        ("https://example.com/a#b?c", WebAddress("https", Host("example.com", 443), "/a")),
        ("http://example.com:443/", WebAddress("http", Host("example.com", 443), "/")),
        ("http://1.1.1.1:8080/", WebAddress("http", Host("1.1.1.1", 8080), "/")),
        ("http://[2606:4700::1]/", WebAddress("http", Host("2606:4700::1", 80), "/")),
        ("http://example.com/a@b:c", WebAddress("http", Host("example.com", 80), "/a@b:c")),
        ("http://example.com/ü%20", WebAddress("http", Host("example.com", 80), "/%C3%BC%20")),
        (
            "http://xn--bcher-kva.example/",
            WebAddress("http", Host("xn--bcher-kva.example", 80), "/"),
        ),
    ],
)
def test_a_url_means_one_thing(url: str, address: WebAddress) -> None:
    assert read_url(url) == address


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("http://example.com:80/", "example.com"),
        ("https://example.com:443/", "example.com"),
        ("https://example.com:80/", "example.com:80"),
        ("http://[2606:4700::1]:81/", "[2606:4700::1]:81"),
    ],
)
def test_a_port_is_said_where_it_does_not_go_without_saying(url: str, authority: str) -> None:
    address = read_url(url)
    assert isinstance(address, WebAddress)
    assert address.authority == authority
    assert str(address) == f"{address.scheme}://{authority}/"


def test_a_password_is_not_repeated_in_the_refusal() -> None:
    refused = read_url("https://ada:hunter2@example.com/")
    assert isinstance(refused, Finding)
    assert "hunter2" not in refused.reason


def test_a_url_without_an_end_is_refused() -> None:
    refused = read_url("http://example.com/" + "a" * MAX_URL_CHARS)
    assert isinstance(refused, Finding)
    assert refused.reason == "the URL is 8,019 characters, more than 8,000"


@given(
    st.one_of(st.text(), st.text().map("http://{}".format), st.text().map("http://a.b/{}".format))
)
def test_whatever_is_said_is_read_or_refused_and_what_is_sent_is_plain(text: str) -> None:
    read = read_url(text)
    if isinstance(read, WebAddress):
        assert read.target.isascii()
        assert read.target.isprintable()
        assert read.target.startswith("/")
        assert " " not in read.target
        assert read_url(str(read)) == read
