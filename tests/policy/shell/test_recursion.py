"""A fork bomb is refused however it is spelled, and an ordinary function is not taken for one."""

import time

import pytest

from handrail.core.risk import RiskLevel
from handrail.policy.shell.recursion import find_fork_bomb
from handrail.policy.validators.scripts import ScriptValidator

BOMBS = {
    "classic": ":(){ :|:& };:",
    "spaced": ": () { : | : & } ; :",
    "without blanks": ":(){:|:&};:",
    "lines": ":()\n{\n  :|:&\n}\n:",
    "keyword": "function : { :|:& }; :",
    "keyword and brackets": "function :(){ :|:& };:",
    "subshell": ":()(:|:&);:",
    "background": ":(){ :& :& };:",
    "one pipe": ":(){ :|: };:",
    "another name": "bomb(){ bomb|bomb& };bomb",
    "a name from the list": "ls(){ ls|ls& };ls",
    "two that run each other": "ls(){ echo|echo& }; echo(){ ls|ls& }; ls",
    "behind something": "echo hello && :(){ :|:& };:",
    "a string inside": ":(){ echo '}' ; :|:& };:",
    "substitution": ":(){ echo $(:) $(:); };:",
}
HARMLESS = {
    "no function": "echo a | cat & wait",
    "not itself": "ls(){ command ls -l | cat; }; ls",
    "one after the other": "ls(){ ls; }; ls",
    "and": "ls(){ test -f a && ls || true; }; ls",
    "a string": "echo ':(){ :|:& };:'",
    "a comment": "ls # :(){ :|:& };:",
    "a here-document": "cat > notes.md <<'EOF'\n:(){ :|:& };:\nEOF\n",
    "to the same place": "ls(){ ls 2>&1; }; ls",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_fork_bomb_is_found(name: str) -> None:
    assert find_fork_bomb(BOMBS[name]) is not None
    refused = [
        finding
        for finding in ScriptValidator("/workspace").validate_script(BOMBS[name])
        if finding.rule == "bash.fork-bomb"
    ]
    assert [finding.risk for finding in refused] == [RiskLevel.FORBIDDEN]


@pytest.mark.parametrize("name", HARMLESS)
def test_what_starts_nothing_over_and_over_is_none(name: str) -> None:
    assert find_fork_bomb(HARMLESS[name]) is None


@pytest.mark.parametrize("piece", ["a(){", ":(){ :|:& };", "function ", "<<A\n", "'", "a()("])
def test_looking_for_one_takes_no_time(piece: str) -> None:
    began = time.process_time()
    find_fork_bomb(piece * (100_000 // len(piece)))
    assert time.process_time() - began < 2
