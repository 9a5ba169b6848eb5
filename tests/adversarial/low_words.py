"""Commands with words that somebody might try, drawn from what the rules know of each."""

import random
from collections.abc import Iterator

from handrail import judge
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Ruling
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.rules import default_rules

PLACE = "/tmp/home/arena"
_SED = ("1w out", "s/a/b/w out", "1e ./s.sh", "{w out", "$!N;w out", "y/a/b/;w out", "b;w out")
_SED_LINES = (
    "a\\\nw out",
    "i\\\nx\nw out",
    "#n\nw out",
    "b a\nw out",
    "s\na\nb\nw out",
    "r f\nw o",
)
_JQ = ('import "x" as x; .', 'include\n"x";.', "$ENV", "input_filename", "@sh")
_AWAY = ("/tmp/home/outside/secret", "../outside/secret", "sub/../../outside/secret", "../outside")
_AWAY_HIDDEN = (
    "HEAD:../outside/secret",
    "@../outside/secret",
    "a=../outside/secret",
    "=/tmp/home/outside",
)
_VALUES = (
    "f.txt",
    "out",
    "./s.sh",
    "1",
    "a",
    "HEAD",
    "HEAD:f.txt",
    "list",
    "{}",
    ";",
    "+",
    "never",
)
_WORDS = (*_VALUES, *_SED, *_SED_LINES, *_JQ, *_AWAY, *_AWAY_HIDDEN, "--", "-", "--out", ".", "sub")
_OPERANDS = ("f.txt", "b.txt", ".", "sub", "out", "big.txt", "HEAD", "main", "--", "-", "list")

Case = list[str]


def low_commands(seed: int, count: int) -> list[Case]:
    """So many that pass unasked, as they would really run."""
    chance = random.Random(seed)
    known = [*_commands()]
    found: list[Case] = []
    while len(found) < count:
        name, rule = chance.choice(known)
        argv = [*name, *_words(rule, chance)]
        verdict = judge("execute_command", {"command": argv[0], "args": argv[1:]}, workspace=PLACE)
        if verdict.ruling is Ruling.ALLOW:
            found += [[*planned] for planned in verdict.plan.argv]
    return found


def _commands() -> Iterator[tuple[Case, CommandRule]]:
    """Whatever can be low, with its subcommands."""
    for rule in default_rules().command_list.rules:
        if rule.risk is RiskLevel.LOW:
            for name in sorted(rule.names):
                yield from _with_subs([name], rule)


def _with_subs(name: Case, rule: CommandRule) -> Iterator[tuple[Case, CommandRule]]:
    yield name, rule
    for sub in rule.subs:
        for word in sorted(sub.names):
            yield from _with_subs([*name, word], sub)


def _words(rule: CommandRule, chance: random.Random) -> Case:
    listed = rule.flags | rule.optional | rule.values | rule.paths | rule.named_paths
    raising = {word for one in rule.raises for word in one.words if word.startswith("-")}
    flags = sorted(flag for flag in listed | raising if "*" not in flag and flag != "-#")
    words = [word for _ in range(chance.randrange(4)) for word in _flag(flags, chance)]
    for _ in range(chance.randrange(4)):
        pool = _OPERANDS if chance.random() < 0.7 else _WORDS
        words.insert(chance.randint(0, len(words)), chance.choice(pool))
    return words


def _flag(flags: list[str], chance: random.Random) -> Case:
    """One flag in some spelling: whole, cut short, with a value, or among others."""
    if not flags:
        return []
    flag, value = chance.choice(flags), chance.choice(_WORDS)
    letters = [one[1] for one in flags if len(one) == 2]
    cut = flag[: chance.randint(3, max(3, len(flag)))] if flag.startswith("--") else flag
    cluster = "-" + "".join(chance.choices(letters, k=chance.randint(1, 3))) if letters else flag
    spellings = [[flag], [flag, value], [f"{flag}={value}"], [cut], [f"{cut}={value}"]]
    spellings += [[f"{flag}{value}"], [cluster], [f"{cluster}{value}"]]
    return chance.choice(spellings)
