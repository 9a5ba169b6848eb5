"""Which hosts http_request may reach is the operator's to say, and nobody else's."""

import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import Layer
from handrail.policy.network.hosts import Host
from handrail.policy.network.web_hosts import ANY_PUBLIC_HOST, WebHosts
from handrail.policy.rulebook.book import Rulebook, operator_rules, project_rules
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.summary import summarise


def hosts(text: str) -> WebHosts:
    return Rulebook(operator_rules(text, "policy.toml")).rules_for("").web


def test_the_shipped_rules_name_no_host() -> None:
    assert default_rules().web == ANY_PUBLIC_HOST == hosts("") == hosts("[http]")


def test_a_list_means_those_and_no_others() -> None:
    listed = hosts('[http]\nallowed_hosts = ["API.example.com", "*.example.org", "10.0.0.5:8080"]')
    allowed = ["api.example.com:443", "a.example.org:80", "10.0.0.5:8080"]
    refused = ["example.com:443", "example.org:80", "10.0.0.5:80", "api.example.com:8080"]

    assert [listed.judge(split(host)) for host in allowed] == [[], [], []]
    assert [listed.judge(split(host))[0].rule for host in refused] == ["http.unlisted"] * 4


def test_an_empty_list_means_nobody() -> None:
    [found] = hosts("[http]\nallowed_hosts = []").judge(Host("example.com", 443))
    assert found.rule == "http.unlisted"


def test_a_private_address_needs_its_own_port_on_the_list() -> None:
    listed = hosts('[http]\nallowed_hosts = ["10.0.0.5", "10.0.0.6:80", "wiki.lan"]')
    assert [found.rule for found in listed.judge(Host("10.0.0.5", 80))] == ["http.private"]
    assert listed.judge(Host("10.0.0.6", 80)) == []
    # A name is believed when the address it leads to is listed too.
    wiki = Host("wiki.lan", 80)
    assert listed.judge(wiki) == []
    assert listed.judge_address(wiki, "10.0.0.6") == ()
    assert [found.rule for found in listed.judge_address(wiki, "10.0.0.5")] == ["http.private"]


@pytest.mark.parametrize(
    ("text", "may_ask_others"),
    [
        ('[http]\ntrusted_hosts = ["wiki.corp", "10.0.0.5", "db.corp:8080"]', True),
        (
            '[http]\ntrusted_hosts = ["wiki.corp", "10.0.0.5", "db.corp:8080"]\nallowed_hosts = []',
            False,
        ),
    ],
)
def test_trusted_hosts_are_added_to_those_that_may_be_reached_anyway(
    text: str, may_ask_others: bool
) -> None:
    found = hosts(text)
    trusted = ["wiki.corp:443", "10.0.0.5:80", "db.corp:8080"]
    others = ["other.corp:443", "10.0.0.6:80", "10.0.0.5:8080", "db.corp:443", "wiki.corp:8080"]

    assert [found.judge(split(host)) for host in trusted] == [[], [], []]
    assert all(found.judge(split(host)) for host in others)
    assert (found.judge(Host("example.com", 443)) == []) is may_ask_others


def test_a_trusted_host_may_lead_to_a_local_address_and_others_may_not() -> None:
    found = hosts('[http]\ntrusted_hosts = ["wiki.corp", "10.0.0.5"]')
    wiki, other = Host("wiki.corp", 443), Host("wiki.example.com", 443)

    assert found.judge_address(wiki, "10.0.0.9") == ()
    assert found.judge_address(other, "10.0.0.5") == ()
    assert [one.rule for one in found.judge_address(other, "10.0.0.9")] == ["http.private"]
    for never in ("169.254.169.254", "fd00:ec2::254", "fe80::1"):
        assert [one.rule for one in found.judge_address(wiki, never)] == ["http.private"]


def test_an_address_in_disguise_is_not_trusted() -> None:
    [found] = hosts('[http]\ntrusted_hosts = ["[::ffff:10.0.0.5]"]').judge(
        Host("::ffff:10.0.0.5", 80)
    )
    assert "in an unusual form" in found.reason


@pytest.mark.parametrize("key", ["allowed_hosts", "trusted_hosts"])
@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fd00:ec2::254", "fe80::1"])
def test_what_serves_no_guest_is_not_reached_although_it_is_listed(address: str, key: str) -> None:
    host = Host(address, 80)
    [found] = hosts(f'[http]\n{key} = ["{host}"]').judge(host)
    assert (found.rule, found.reason) == (
        "http.private",
        f"{host} is an address that no request may reach",
    )


def test_a_project_names_no_hosts() -> None:
    with pytest.raises(RuleError, match=r"operator's file; leave it out"):
        project_rules('[http]\nallowed_hosts = ["evil.example.com"]')


def test_a_project_cannot_take_the_list_away() -> None:
    book = Rulebook(operator_rules('[http]\nallowed_hosts = ["a.example.com"]', "policy.toml"))
    assert book.rules_for('[policy]\nautonomy = "read_only"').web == book.rules_for("").web


def test_the_list_is_shown_with_the_rules() -> None:
    rules = operator_rules('[http]\nallowed_hosts = ["a.example.com"]', "policy.toml")
    notes = summarise(Layer.OPERATOR, "policy.toml", rules).notes
    assert notes == ("http_request may reach a.example.com",)
    rules = operator_rules('[http]\ntrusted_hosts = ["wiki.corp:443"]', "policy.toml")
    notes = summarise(Layer.OPERATOR, "policy.toml", rules).notes
    assert notes == ("http_request may reach any public host; trusted: wiki.corp:443",)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http = 1", "written as one table, [http]"),
        ("[[http]]", "written as one table, [http]"),
        ("[http]\nhosts = []", "unknown key 'hosts'; known: allowed_hosts, trusted_hosts"),
        ('[http]\nallowed_hosts = "a.example.com"', "allowed_hosts is a list of texts"),
        ("[http]\nallowed_hosts = [1]", "allowed_hosts is a list of texts"),
        ("[http]\ntrusted_hosts = 1", "trusted_hosts is a list of texts"),
        ('[http]\ntrusted_hosts = ["*.corp.example"]', "must name one host, without `*`"),
        ('[http]\nallowed_hosts = ["*.com"]', "the host '*.com' covers too much"),
        ('[http]\nallowed_hosts = ["127.1"]', "is an IPv4 address in an unusual form"),
        ('[http]\nallowed_hosts = ["http://a.example.com/"]', "the host 'http://a.example.com/'"),
    ],
)
def test_a_broken_table_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(RuleError) as caught:
        operator_rules(text, "policy.toml")
    assert caught.value.message.startswith("policy.toml: ")
    assert why in caught.value.message


def split(word: str) -> Host:
    name, _, port = word.rpartition(":")
    return Host(name, int(port))
