"""Whatever a project's file says, no call is judged more loosely with it than without it."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.core.project import Autonomy
from handrail.core.risk import Layer, RiskLevel
from handrail.core.verdict import Plan
from handrail.policy.rulebook.command import CommandRule, Need, Runs, Text, WordReasons
from handrail.policy.rulebook.globs import any_part
from handrail.policy.rulebook.paths import Access, PathRule
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.settings import Ceiling, Unlisted
from handrail.policy.rulebook.tools import ToolRule
from handrail.policy.rulebook.writes import WriteRule
from handrail.policy.security import Scene
from handrail.policy.validators.commands import CommandValidator
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call

CORPUS = Path(__file__).parent / "corpus"
REGISTRY = builtin_registry()
PROJECT = Layer.PROJECT
GROUNDS = {"shipped": default_rules(), "nothing": Rules(unlisted=Unlisted.ASK)}


def cases(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((CORPUS / f"{name}.toml").read_text(encoding="utf-8"))["case"]


COMMANDS = [
    ("execute_command", {"command": case["argv"][0], "args": case["argv"][1:]})
    for case in cases("commands")
    if case["argv"]
]
READS = [
    ("read_file", {"path": case["path"]}) for case in cases("paths") if not case.get("writing")
]
WRITES = [
    ("write_file", {"path": case["path"], "content": "x"})
    for case in [*cases("writes"), *cases("paths")]
]
CALLS: list[tuple[str, dict[str, Any]]] = [*COMMANDS, *READS, *WRITES]

levels = st.sampled_from(RiskLevel)
names = st.sampled_from(
    sorted({call["command"] for _, call in COMMANDS} | {"*", "g*", "terraform"})
)
words = st.sampled_from(
    [*sorted({word for _, call in COMMANDS for word in call["args"] if word}), "*", "-*"]
)
globs = st.sampled_from(["*", "*.md", "*.exe", "src/**/*.py", "docs/**", ".env*", "*/*", "a?"])
some_words = st.frozensets(words, max_size=3)


word_reasons = st.builds(WordReasons, st.dictionaries(words, st.just("is looked at"), max_size=2))
runs = st.builds(
    Runs,
    operands=st.none() | st.integers(0, 2),
    values=some_words,
    after=some_words,
    module=st.sampled_from(["", "-m"]),
    script=st.booleans(),
)
# Also with the keys that a project's file may not contain: what reads them must not matter.
command_rules = st.builds(
    CommandRule,
    names=st.frozensets(names | st.builds("{} {}".format, names, words), min_size=1, max_size=3),
    risk=levels,
    reason=st.just("is looked at here"),
    asks=word_reasons,
    refuses=word_reasons,
    text=st.sampled_from(Text),
    runs=st.none() | runs,
    obeys=st.just(()) | st.tuples(words),
    need=st.none() | st.sampled_from(Need),
    adds=st.just(()) | st.tuples(words),
    layer=st.just(PROJECT),
)


def write_rule(risk: RiskLevel, glob: str) -> WriteRule:
    return WriteRule("mine", risk, "is looked at here", any_part([glob]), PROJECT)


def path_rule(access: Access, glob: str) -> PathRule:
    return PathRule("mine", access, "is not yours", any_part([glob]), layer=PROJECT)


projects = st.builds(
    Rules,
    paths=st.lists(st.builds(path_rule, st.sampled_from(Access), globs), max_size=1).map(tuple),
    writes=st.lists(st.builds(write_rule, levels, globs), max_size=2).map(tuple),
    commands=st.lists(command_rules, max_size=3).map(tuple),
    tools=st.lists(
        st.builds(
            ToolRule,
            st.sampled_from(["*", "read_file", "write_*"]),
            levels,
            st.just("is looked at"),
            st.just(PROJECT),
        ),
        max_size=1,
    ).map(tuple),
    ceilings=st.lists(
        st.builds(Ceiling, st.sampled_from(Autonomy), st.just(PROJECT)), max_size=1
    ).map(tuple),
    unlisted=st.none() | st.sampled_from(Unlisted),
)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(
    project=projects,
    calls=st.lists(st.sampled_from(CALLS), min_size=1, max_size=20),
    # By name: what is printed when it fails shall be read.
    beneath=st.sampled_from(sorted(GROUNDS)),
    autonomy=st.sampled_from(Autonomy),
    isolated=st.booleans(),
)
def test_a_project_only_ever_tightens(
    project: Rules,
    calls: list[tuple[str, dict[str, Any]]],
    beneath: str,
    autonomy: Autonomy,
    isolated: bool,
) -> None:
    rules = GROUNDS[beneath]
    without = Scene("/home/ada/project", autonomy, isolated, rules)
    within = Scene("/home/ada/project", autonomy, isolated, rules.tightened_by(project))
    for name, raw in calls:
        tool, params = REGISTRY.parse(name, raw)
        before, after = judge_call(tool, params, without), judge_call(tool, params, within)
        assert after.ruling >= before.ruling, (name, raw)
        assert after.risk >= before.risk, (name, raw)
        # It neither adds a word to what runs nor opens the box wider.
        assert replace(after.plan, rehearses=before.plan.rehearses) in (
            replace(Plan(), rehearses=before.plan.rehearses),
            before.plan,
        ), (name, raw)
        assert before.plan.rehearses or not after.plan.rehearses, (name, raw)
        # What a person may let pass in one go is at most what it was.
        wider, narrower = (tool.call_class(params, scene) for scene in (without, within))
        assert narrower in (None, wider) or (wider is not None and narrower.is_exact)


def test_a_command_that_only_a_project_says_is_run_opens_no_network() -> None:
    handing_on = CommandRule(
        frozenset({"pytest"}), RiskLevel.MEDIUM, "", runs=Runs(operands=0), layer=PROJECT
    )
    rules = default_rules().tightened_by(Rules(commands=(handing_on,)))
    words = ("pytest", ["-q", "npm", "install"])
    assert CommandValidator("/w").stage_of(*words) == CommandValidator("/w", rules).stage_of(*words)
