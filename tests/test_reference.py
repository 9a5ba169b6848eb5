"""The reference says what the code says, whoever makes it and wherever."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import handrail
from handrail.core.errors import RuleError
from handrail.policy.rulebook.rules import Rules, default_rules
from scripts.reference.fixed_rules import NOTICED, SEEN
from scripts.reference.pages import PAGES, ROOT

SOURCE = Path(handrail.__file__).parent
ROOMS_THAT_JUDGE = ("policy", "tools", "plane", "client", "executors")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_code_says(name: str) -> None:
    if (ROOT / name).read_text(encoding="utf-8") != PAGES[name]():
        pytest.fail(f"{name} is not what the code says; run make reference")


def test_every_key_of_a_commands_row_is_described() -> None:
    with pytest.raises(RuleError) as caught:
        Rules.parse("[[command]]\nname = 'x'\nexamples = {x = 'high'}\nzzz = 1", source="mine")
    known = caught.value.message.partition("; known: ")[2].split(", ")

    page = PAGES["docs/reference/command-rules.md"]()

    assert "risk" in known
    assert [key for key in known if f"`{key}`" not in page] == []


def test_only_what_is_low_stands_among_the_readers() -> None:
    page = PAGES["docs/tool-risk-assessment-matrix.md"]()

    readers = page.partition("### Readers")[2].partition("###")[0]
    names = [row.split(" | ")[0] for row in readers.splitlines() if row.startswith("| `")]

    assert any("`git log`" in row for row in names)
    assert not any("`git push`" in row or "`rm`" in row for row in names)


def test_nothing_else_lies_among_the_pages() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/reference").iterdir()}
    assert found <= set(PAGES)


def anchors_of(page: Path) -> set[str]:
    """What a forge makes of the headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere_also_within_a_page(name: str) -> None:
    page = ROOT / name
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        target = page.parent / file if file else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors_of(target), link


def test_a_page_is_the_same_whoever_makes_it(tmp_path: Path) -> None:
    program = (
        "import json, sys; from scripts.reference.pages import PAGES; "
        "json.dump({name: make() for name, make in PAGES.items()}, sys.stdout)"
    )
    stranger = {
        "HOME": str(tmp_path),
        "USER": "stranger",
        "COLUMNS": "40",
        "TERM": "dumb",
        "HANDRAIL_HOME": str(tmp_path / "own"),
        "HANDRAIL_PORT": "9",
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": str(ROOT),
        "PATH": os.environ["PATH"],
    }

    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=stranger,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    made = json.loads(ended.stdout)
    assert [name for name, text in made.items() if text != PAGES[name]()] == []
    assert list(tmp_path.iterdir()) == []


def test_the_matrix_names_every_rule_that_is_code() -> None:
    # Names that begin with `policy.`, `session.` or `draft.` stand in the log and the record as
    # well, and git has a `config.worktree` and a setting `http.proxy`.
    literal = re.compile(
        r'"((?:path|write|command|effects|bash|size|chain)\.[a-z-]+|policy\.autonomy'
        r"|http\.(?!proxy)[a-z-]+|config\.(?!worktree)[a-z-]+|session\.(?:told-host|tainted)"
        r'|draft\.(?!expired)[a-z-]+)"'
    )
    told = {
        rule
        for room in ROOMS_THAT_JUDGE
        for path in (SOURCE / room).rglob("*.py")
        for rule in literal.findall(path.read_text(encoding="utf-8"))
    }

    assert told == {one.rule for one in (*NOTICED, *SEEN)}


def test_the_matrix_names_every_rule_that_is_data() -> None:
    text = (ROOT / "docs/tool-risk-assessment-matrix.md").read_text(encoding="utf-8")
    rules = default_rules()

    assert [rule.name for rule in rules.paths if f"`path.{rule.name}`" not in text] == []
    assert [rule.name for rule in rules.writes if f"`write.{rule.name}`" not in text] == []
    commands = {name for rule in rules.commands for name in rule.names}
    assert [name for name in commands if f"`{name}`" not in text] == []
