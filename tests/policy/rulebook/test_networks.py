"""Which hosts commands may reach is the operator's to say, and nobody else's."""

import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import Layer
from handrail.policy.rulebook.book import Rulebook, operator_rules, project_rules
from handrail.policy.rulebook.rules import Rules, default_rules


def rules(text: str) -> Rules:
    return Rulebook(operator_rules(text, "policy.toml")).rules_for("")


def test_the_shipped_rules_name_no_host_but_those_of_an_account() -> None:
    """What a machine takes its packages from is for its own settings to say."""
    named = {rule.title for rule in default_rules().networks if rule.hosts}
    assert named == {rule.title for rule in default_rules().networks if rule.credential}


def test_commands_of_one_kind_share_their_hosts() -> None:
    [npm], [yarn] = default_rules().networks_of("npm"), default_rules().networks_of("yarn")

    assert npm is yarn
    assert npm.ask == (("npm", "config", "get", "registry"),)


def test_a_command_that_nobody_speaks_of_reaches_nothing() -> None:
    assert default_rules().networks_of("cargo") == []


def test_the_operator_names_hosts_for_a_command() -> None:
    told = '[[network]]\nname = "cargo"\nhosts = ["Crates.example.com", "*.cdn.example.com:8443"]'

    [cargo] = rules(told).networks_of("cargo")

    assert cargo.hosts == ("crates.example.com", "*.cdn.example.com:8443")
    assert cargo.layer is Layer.OPERATOR


def test_the_operators_word_on_a_command_stands_instead_of_ours() -> None:
    told = rules('[[network]]\nname = "npm"\nhosts = ["packages.example.com"]')

    [npm], [yarn] = told.networks_of("npm"), told.networks_of("yarn")

    assert (npm.hosts, npm.ask) == (("packages.example.com",), ())
    assert yarn.ask


def test_a_project_names_no_hosts() -> None:
    with pytest.raises(RuleError, match=r"operator's file; leave it out"):
        project_rules('[[network]]\nname = "npm"\nhosts = ["evil.example.com"]')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('hosts = ["a.example.com"]', "needs a 'name', or 'names', of commands"),
        ('name = "x"\nhosts = ["http://a.example.com/"]', "the host 'http://a.example.com/'"),
        ('name = "x"\nhosts = ["*.com"]', "covers too much"),
        ('name = "x"\nask = ["npm config"]', "ask is a list of commands"),
        ('name = "x"\nask = [[]]', "ask is a list of commands"),
        ('name = "x"\ntell = ["A=B"]', "'A=B' is not the name of a variable"),
        ('name = "x"\nport = 80', "unknown key 'port'"),
        ('name = "x"\ncredential = "y"', "credential is a table"),
        ('name = "x"\ncredential = { tell = "X" }', "credential is a table"),
        ('name = "x"\ncredential = { ask = [["y"]], tell = "A=B" }', "'A=B' is not the name"),
        ('name = "x"\ncredential = { ask = [["y"]], to = "X" }', "credential is a table"),
    ],
)
def test_a_broken_rule_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(RuleError) as caught:
        operator_rules(f"[[network]]\n{text}", "policy.toml")

    assert "policy.toml: network rule" in caught.value.message
    assert why in caught.value.message
