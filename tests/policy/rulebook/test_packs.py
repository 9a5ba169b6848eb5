"""What a person is told of commands that are not on the list."""

import pytest

from handrail.policy.rulebook.packs import how_to_list
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.settings import PACKS
from handrail.policy.validators.commands import CommandValidator


@pytest.mark.parametrize("pack", PACKS)
def test_every_command_of_a_pack_is_refused_with_the_name_of_its_pack(pack: str) -> None:
    shipped = default_rules().commands
    for rule in default_rules((pack,)).commands[len(shipped) :]:
        for name in rule.names:
            command = name.replace("*", "x")
            (refusal,) = CommandValidator("/w").validate_command(command)
            assert refusal.reason == (
                f'Command not allowed: {command} has no rule; to allow it, add "{pack}" to packs'
                " under [policy] in ~/.handrail/policy.toml (see docs/howto/policy.md)"
            )


def test_a_command_that_no_pack_has_can_be_described_or_asked_about() -> None:
    assert "describe it as [[command]]" in how_to_list("frobnicate", asks=False)
    assert 'unlisted = "ask"' in how_to_list("frobnicate", asks=False)
    assert 'unlisted = "ask"' not in how_to_list("frobnicate", asks=True)


def test_what_a_pack_has_is_named_where_people_are_asked_too() -> None:
    assert '"rust"' in how_to_list("rustc", asks=True)
