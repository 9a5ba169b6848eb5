import pytest

from handrail.executors.network.request import Refusal, Request, read_request
from handrail.policy.network.hosts import Host


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def test_a_tunnel_is_asked_for_with_host_and_port() -> None:
    asked = head("CONNECT Example.com:443 HTTP/1.1", "Host: other.org", "User-Agent: x")
    assert read_request(asked) == Request(Host("example.com", 443))


def test_a_tunnel_may_lead_to_an_address_in_brackets() -> None:
    assert read_request(head("CONNECT [2001:DB8::1]:8443 HTTP/1.0")) == Request(
        Host("2001:db8::1", 8443)
    )


def test_a_plain_request_is_written_anew_for_the_server() -> None:
    asked = head(
        "GET http://EXAMPLE.com/a/b?c=d HTTP/1.1",
        "Host: evil.org",
        "hOST: another.org",
        "User-Agent:  tool/1.0 \t",
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic c2VjcmV0",
        "Connection: keep-alive, X-Private , ,Host",
        "X-Private: for the neighbour",
        "Keep-Alive: timeout=5",
        "TE: trailers",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMA",
        "Accept: */*",
    )
    assert read_request(asked) == Request(
        Host("example.com", 80),
        head(
            "GET /a/b?c=d HTTP/1.1",
            "Host: example.com",
            "User-Agent: tool/1.0",
            "Accept: */*",
            "Connection: close",
        ),
    )


@pytest.mark.parametrize(
    ("target", "host", "first", "field"),
    [
        ("http://a.org", Host("a.org", 80), "GET / HTTP/1.1", "Host: a.org"),
        ("HTTP://a.org:80/x", Host("a.org", 80), "GET /x HTTP/1.1", "Host: a.org"),
        ("http://a.org:4873?q", Host("a.org", 4873), "GET /?q HTTP/1.1", "Host: a.org:4873"),
        ("http://[::1]:8000/", Host("::1", 8000), "GET / HTTP/1.1", "Host: [::1]:8000"),
        ("http://a.org//b.org/", Host("a.org", 80), "GET //b.org/ HTTP/1.1", "Host: a.org"),
        ("http://a.org/@b.org", Host("a.org", 80), "GET /@b.org HTTP/1.1", "Host: a.org"),
    ],
)
def test_the_request_line_says_which_host_is_meant(
    target: str, host: Host, first: str, field: str
) -> None:
    asked = head(f"GET {target} HTTP/1.1", "Host: evil.org")
    assert read_request(asked) == Request(host, head(first, field, "Connection: close"))


@pytest.mark.parametrize(
    ("fields", "length", "forwarded"),
    [
        ([], 0, []),
        (["Content-Length: 0"], 0, ["Content-Length: 0"]),
        (["content-length: 12"], 12, ["Content-Length: 12"]),
        (["Content-Length: 007"], 7, ["Content-Length: 7"]),
        (["Connection: content-length", "Content-Length: 7"], 7, ["Content-Length: 7"]),
        (["Transfer-Encoding: Chunked"], None, ["Transfer-Encoding: chunked"]),
    ],
)
def test_the_length_of_the_body_is_said_once_and_anew(
    fields: list[str], length: int | None, forwarded: list[str]
) -> None:
    asked = head("POST http://a.org/ HTTP/1.1", *fields)
    written = head("POST / HTTP/1.1", "Host: a.org", *forwarded, "Connection: close")
    assert read_request(asked) == Request(Host("a.org", 80), written, length)


def test_who_asks_for_leave_to_go_on_is_known_and_the_server_is_not_asked() -> None:
    asked = head("PUT http://a.org/ HTTP/1.1", "Expect: 100-Continue", "Content-Length: 3")
    written = head("PUT / HTTP/1.1", "Host: a.org", "Content-Length: 3", "Connection: close")
    assert read_request(asked) == Request(Host("a.org", 80), written, 3, awaits_leave=True)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["CONNECT a.org HTTP/1.1"], "needs a port"),
        (["CONNECT a.org:443 HTTP/1.1", "Content-Length: 5"], "has no body"),
        (["CONNECT a.org:443 HTTP/1.1", "Transfer-Encoding: chunked"], "has no body"),
        (["CONNECT http://a.org:443 HTTP/1.1"], "neither a host nor host:port"),
        (["CONNECT user@a.org:443 HTTP/1.1"], "is not a host name"),
        (["CONNECT a.org.:443 HTTP/1.1"], "ends in a dot"),
        (["CONNECT 127.1:443 HTTP/1.1"], "address in an unusual form"),
        (["CONNECT ::1:443 HTTP/1.1"], "write IPv6 addresses in brackets"),
        (["CONNECT [::1%lo]:443 HTTP/1.1"], "is not an IPv6 address"),
        (["CONNECT a.org%00.b.org:443 HTTP/1.1"], "is not a host name"),
        (["CONNECT a.org\0.b.org:443 HTTP/1.1"], "request line"),
        (["CONNECT a.org:443\t HTTP/1.1"], "request line"),
        (["CONNECT a.org:443 b.org:443 HTTP/1.1"], "request line"),
        (["CONNECT  a.org:443 HTTP/1.1"], "request line"),
        (["CONNECT a\xe9.org:443 HTTP/1.1"], "request line"),
        (["GET http://a.org/ HTTP/2.0"], "request line"),
        (["GET http://a.org/"], "request line"),
        (["get http://a.org/ HTTP/1.1"], "request line"),
        (["GET http://a.org/\x7f HTTP/1.1"], "request line"),
        (["PRI * HTTP/2.0"], "request line"),
        (["GET / HTTP/1.1", "Host: a.org"], "whole addresses"),
        (["OPTIONS * HTTP/1.1", "Host: a.org"], "whole addresses"),
        (["GET https://a.org/ HTTP/1.1"], "whole addresses"),
        (["GET ftp://a.org/ HTTP/1.1"], "whole addresses"),
        (["GET a.org/ HTTP/1.1"], "whole addresses"),
        (["GET http://a.org/#b HTTP/1.1"], "whole addresses"),
        (["GET http:///x HTTP/1.1"], "is empty"),
        (["GET http://a.org@b.org/ HTTP/1.1"], "user name"),
        (["GET http://user:word@a.org/ HTTP/1.1"], "user name"),
        (["GET http://a.org\\@b.org/ HTTP/1.1"], "user name"),
        (["GET http://a.org\\.b.org/ HTTP/1.1"], "is not a host name"),
        (["GET http://a.org:/ HTTP/1.1"], "neither a host nor host:port"),
        (["GET http://2130706433/ HTTP/1.1"], "address in an unusual form"),
        (["GET http://a.org/ HTTP/1.1", " folded: x"], "header field"),
        (["GET http://a.org/ HTTP/1.1", "A: x", "\tgoes on"], "header field"),
        (["GET http://a.org/ HTTP/1.1", "A : x"], "header field"),
        (["GET http://a.org/ HTTP/1.1", "A"], "header field"),
        (["GET http://a.org/ HTTP/1.1", ": x"], "header field"),
        (["GET http://a.org/ HTTP/1.1", "A: x\0"], "header field"),
        (["GET http://a.org/ HTTP/1.1", "A: x\nB: y"], "header field"),
        (["GET http://a.org/ HTTP/1.1", "A: x\rB: y"], "header field"),
        (["GET http://a.org/ HTTP/1.1\nA: x", "B: y"], "request line"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length: -1"], "not a number"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length: 1, 1"], "not a number"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length: 0x1"], "not a number"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length: +1"], "not a number"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length:"], "not a number"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length: \xb2"], "not a number"),
        (["POST http://a.org/ HTTP/1.1", "Content-Length: 1" + "0" * 15], "not a number"),
        (
            ["POST http://a.org/ HTTP/1.1", "Content-Length: 3", "content-length: 3"],
            "more than once",
        ),
        (
            ["POST http://a.org/ HTTP/1.1", "Content-Length: 3", "Transfer-Encoding: chunked"],
            "more than once",
        ),
        (
            ["POST http://a.org/ HTTP/1.1", "Transfer-Encoding: chunked", "Transfer-Encoding: x"],
            "more than once",
        ),
        (["POST http://a.org/ HTTP/1.1", "Transfer-Encoding: gzip, chunked"], "other than chunked"),
        (["POST http://a.org/ HTTP/1.1", "Transfer-Encoding: identity"], "other than chunked"),
        (["POST http://a.org/ HTTP/1.1", "Transfer-Encoding: \x0bchunked"], "header field"),
        (["POST http://a.org/ HTTP/1.0", "Transfer-Encoding: chunked"], "other than chunked"),
    ],
)
def test_what_could_be_understood_in_two_ways_is_not_understood(lines: list[str], why: str) -> None:
    refusal = read_request(head(*lines))
    assert isinstance(refusal, Refusal)
    assert (refusal.status, why in refusal.reason) == (400, True), refusal.reason


def test_an_unknown_expectation_is_not_met() -> None:
    refusal = read_request(head("PUT http://a.org/ HTTP/1.1", "Expect: the unexpected"))
    assert isinstance(refusal, Refusal)
    assert refusal.status == 417


def test_a_long_malformed_field_costs_no_time() -> None:
    """A pattern that trims the blanks itself would take minutes."""
    asked = head("GET http://a.org/ HTTP/1.1", "A:" + " " * 30_000 + "\0")
    assert isinstance(read_request(asked), Refusal)
