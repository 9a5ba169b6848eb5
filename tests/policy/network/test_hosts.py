import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.errors import BadInput
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.policy.network.hosts import Host, HostList, read_host, validate_host


@pytest.mark.parametrize(
    ("word", "host"),
    [
        ("example.com", Host("example.com")),
        ("EXAMPLE.Com:443", Host("example.com", 443)),
        ("localhost:8000", Host("localhost", 8000)),
        ("a--b.example.com", Host("a--b.example.com")),
        ("xn--bcher-kva.example", Host("xn--bcher-kva.example")),
        ("3com.com", Host("3com.com")),
        ("1.2.3.4", Host("1.2.3.4")),
        ("1.2.3.4:65535", Host("1.2.3.4", 65535)),
        ("[::1]", Host("::1")),
        ("[2001:DB8:0::1]:8443", Host("2001:db8::1", 8443)),
        (f"{'a' * 63}.com", Host(f"{'a' * 63}.com")),
    ],
)
def test_a_host_is_read_into_its_one_spelling(word: str, host: Host) -> None:
    assert read_host(word) == host
    assert read_host(str(host)) == host
    assert validate_host(word) == []


@pytest.mark.parametrize(
    "word",
    [
        "", ".", "..", ":80", "a..b", ".example.com", "example.com.", "example.com.:443",
        "-a.com", "a-.com", "my_registry.com", "exa mple.com", " example.com", "example.com ",
        f"{'a' * 64}.com", ".".join(["a" * 63] * 5),
        "example.com\0.evil.org", "example.com\r\nHost: evil.org", "example.com\t", "a.com\x7f",
        "user@example.com", "user:word@example.com", "example.com/path", "example.com?x", "a#b.com",
        "example.com\\@evil.org", "example.com%00.evil.org", "http://example.com", "*", "a*.com",
        # Letters that only look alike, full-width dots and digits, names not yet in ASCII.
        "ex\u0430mple.com", "example\u3002com", "\uff11\uff12\uff17.0.0.1", "b\u00fccher.example",
        "example.com\u200b", "\ufb01.com", "\u212aernel.org",
        "xn--.com", "xn--example-.com", "xn--a.xn--\u00fc.com", "xn--99999999999.com",
        # Addresses in disguise.
        "127.1", "0x7f.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.01", "127.0.0.0x1",
        "1.2.3", "1.2.3.4.5", "256.1.1.1", "example.0x", "example.1",
        # Ports.
        "example.com:", "example.com:0", "example.com:65536", "example.com:080", "example.com:-1",
        "example.com:80:80", "example.com:http", "example.com:8\u0660", "example.com: 80",
        # IPv6.
        "::1", "::1:80", "2001:db8::1", "[::1", "::1]", "[::1]80", "[]", "[fe80::1%eth0]:80",
        "[1.2.3.4]", "[example.com]:80", "[::1]:80:80", "[[::1]]",
    ],
)  # fmt: skip
def test_what_is_no_plain_host_is_refused(word: str) -> None:
    found = read_host(word)
    assert isinstance(found, Finding)
    assert (found.rule, found.risk) == ("host.spelling", RiskLevel.FORBIDDEN)
    assert validate_host(word) == [found]
    with pytest.raises(BadInput, match=r"^the host '"):
        HostList.read([word])


def test_a_refusal_says_what_is_wrong_and_shows_what_cannot_be_seen() -> None:
    assert read_host("127.1") == forbidden(
        "host.spelling",
        "the host '127.1' is an IPv4 address in an unusual form; write it as 1.2.3.4",
    )
    dotted = "the host 'example.com.' ends in a dot; leave it out"
    assert read_host("example.com.") == forbidden("host.spelling", dotted)
    unseen = (
        "the host 'a\\x00.org' contains characters that a host name cannot contain; write "
        "it in ASCII"
    )
    assert read_host("a\0.org") == forbidden("host.spelling", unseen)
    long = read_host("x" * 5000)
    assert isinstance(long, Finding)
    assert len(long.reason) < 300


@pytest.mark.parametrize(
    ("entries", "host", "port", "covered"),
    [
        (["example.com"], "example.com", 443, True),
        (["example.com"], "example.com", 80, True),
        (["example.com"], "example.com", 22, False),
        (["example.com"], "a.example.com", 443, False),
        (["example.com"], "notexample.com", 443, False),
        (["example.com"], "example.com.evil.org", 443, False),
        (["example.com:8443"], "example.com", 8443, True),
        (["example.com:8443"], "example.com", 443, False),
        (["*.example.com"], "a.example.com", 443, True),
        (["*.example.com"], "a.b.example.com", 80, True),
        (["*.example.com"], "a.example.com", 8443, False),
        (["*.example.com"], "example.com", 443, False),
        (["*.example.com"], "notexample.com", 443, False),
        (["*.example.com:8443"], "a.example.com", 8443, True),
        (["Store*.example.com"], "store7.example.com", 443, True),
        (["store*.example.com"], "store123.example.com", 443, True),
        (["store*.example.com"], "store.example.com", 443, False),
        (["store*.example.com"], "storex.example.com", 443, False),
        (["store*.example.com"], "a.store1.example.com", 443, False),
        (["store*.example.com"], "store1.a.example.com", 443, False),
        (["store*.example.com"], "7.example.com", 443, False),
        (["store*.example.com"], "xstore7.example.com", 443, False),
        (["a.org", "EXAMPLE.com"], "example.com", 443, True),
        (["1.2.3.4"], "1.2.3.4", 443, True),
        (["[2001:db8:0:0::1]:80"], "2001:db8::1", 80, True),
        ([], "example.com", 443, False),
        ([], "127.0.0.1", 80, False),
    ],
)
def test_a_list_covers_what_it_names_and_nothing_else(
    entries: list[str], host: str, port: int, covered: bool
) -> None:
    assert HostList.read(entries).covers(Host(host, port)) is covered


def test_a_host_without_a_port_is_covered_by_nothing() -> None:
    hosts = HostList.read(["example.com", "*.example.com"])
    assert not hosts.covers(Host("example.com"))
    assert not hosts.names(Host("example.com"))


@pytest.mark.parametrize(
    "word", ["*", "*.", "*.com", "*.1.2.3.4", "**.example.com", "*.*.com", "a*.com", "a*b*.c.com"]
)
def test_a_wildcard_stands_for_what_lies_below_a_domain_only(word: str) -> None:
    assert [found.rule for found in validate_host(word)] == ["host.spelling"]


@pytest.mark.parametrize("word", ["example.com", "*.example.com", "*.example.com:80", "1.2.3.4"])
def test_an_exact_list_names_each_host_with_its_port(word: str) -> None:
    assert validate_host(word) == []
    reason = f"the host '{word}' must name one host and its port, as in registry.internal:4873"
    assert validate_host(word, exact=True) == [forbidden("host.spelling", reason)]
    with pytest.raises(BadInput, match="must name one host and its port"):
        HostList.read([word], exact=True)


def test_a_list_names_only_the_very_host_and_port() -> None:
    hosts = HostList.read(["registry.internal:4873", "*.corp.internal:80", "example.com"])
    assert hosts.names(Host("registry.internal", 4873))
    assert not hosts.names(Host("registry.internal", 80))
    assert not hosts.names(Host("corp.internal", 80))
    assert not hosts.names(Host("example.com", 443))


def test_a_list_reads_as_it_was_written_once_each() -> None:
    hosts = HostList.read(["B.org:8443", "*.a.org", "b.org:8443", "[::1]:80"])
    assert str(hosts) == "b.org:8443, *.a.org, [::1]:80"
    assert str(HostList()) == "none"


@given(st.text(st.characters(max_codepoint=0x2FF), max_size=40))
def test_whatever_is_read_is_plain_and_reads_the_same_again(word: str) -> None:
    host = read_host(word)
    if isinstance(host, Host):
        assert read_host(str(host)) == host
        assert host.name == host.name.lower()
        assert set(host.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.:")
