"""Skills of the person and of Handrail: found, left out with a sentence, and chosen by words."""

import os
from pathlib import Path

import pytest

from handrail.core.skill import Skill
from handrail.knowledge import skills
from handrail.knowledge.skills import SkillFault, SkillShelf, fitting, parse_skill

SOURCE = Path(skills.__file__).parent
BUILTIN = ["careful-edit", "explain-risk", "git-hygiene"]
TEXT = """---
name: {name}
description: How we bake bread.
---
Knead it.
"""


def write(folder: Path, name: str, text: str = TEXT) -> Path:
    (folder / name).mkdir(parents=True)
    file = folder / name / "SKILL.md"
    file.write_text(text.format(name=name))
    return file


def test_without_a_folder_there_are_the_built_in_ones() -> None:
    for shelf in (SkillShelf(), SkillShelf(Path("/nowhere"))):
        assert [skill.name for skill in shelf.list_all()] == BUILTIN
        assert all(skill.builtin for skill in shelf.list_all())


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_skills_are_short_and_say_when_to_use_them(name: str) -> None:
    text = (SOURCE / "builtin_skills" / name / "SKILL.md").read_text()
    skill = parse_skill(name, text)
    assert len(text.splitlines()) < 80
    assert len(skill.description) > 40
    assert skill.keywords


@pytest.mark.behaviour("skills.own-first")
def test_a_persons_own_skill_wins_over_the_built_in_one(tmp_path: Path) -> None:
    write(tmp_path, "git-hygiene")
    write(tmp_path, "bread")
    shelf = SkillShelf(tmp_path)

    assert shelf.find("git-hygiene") == Skill("git-hygiene", "How we bake bread.", "Knead it.")
    assert [skill.name for skill in shelf.list_all()] == ["bread", *BUILTIN]
    assert shelf.collect().warnings == ()


def test_what_a_person_edits_counts_at_once(tmp_path: Path) -> None:
    shelf = SkillShelf(tmp_path)
    file = write(tmp_path, "bread")
    assert shelf.find("bread") is not None

    file.write_text(file.read_text().replace("Knead", "Do not knead"))

    assert "Do not knead" in getattr(shelf.find("bread"), "body", "")


@pytest.mark.parametrize(
    "name", ["", "..", "../bread", "/etc", "Bread", "bread\n", "b" * 65, "a/b"]
)
def test_a_name_that_cannot_be_one_finds_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path / "skills", "bread")
    write(tmp_path, "up")
    assert SkillShelf(tmp_path / "skills").find(name) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Knead it.", "SKILL.md does not begin with a line of ---"),
        ("", "SKILL.md does not begin with a line of ---"),
        ("---\nname: x\n", "there is no second line of --- after its description"),
        ("---\nname: y\ndescription: d\n---\nb", "its name must be that of its folder, x"),
        ("---\nname: x\n---\nb", "it has no description"),
        ("---\nname: x\ndescription: d\n---\n \n", "there is nothing after its description"),
        (
            f"---\nname: x\ndescription: {'d' * 1_001}\n---\nb",
            "its description has more than 1,000 characters",
        ),
        ("x" * 64_001, "SKILL.md has more than 64,000 bytes"),
    ],
)
def test_a_broken_skill_is_left_out_with_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "SKILL.md").write_text(text)
    write(tmp_path, "bread")

    found = SkillShelf(tmp_path).collect()

    assert [skill.name for skill in found.skills] == ["bread", *BUILTIN]
    assert found.warnings == (f"the skill 'x' is left out: {why}",)


@pytest.mark.behaviour("skills.no-links")
def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    mine, elsewhere = tmp_path / "skills", tmp_path / "elsewhere"
    secret = write(elsewhere, "folder")
    write(elsewhere, "file")
    mine.mkdir()
    (mine / "folder").symlink_to(elsewhere / "folder")
    (mine / "file").mkdir()
    (mine / "file" / "SKILL.md").symlink_to(secret)
    (mine / "pipe").mkdir()
    os.mkfifo(mine / "pipe" / "SKILL.md")

    found = SkillShelf(mine).collect()

    assert [skill.name for skill in found.skills] == BUILTIN
    assert found.warnings == (
        "the skill 'file' is left out: it is a link, and could lead elsewhere",
        "the skill 'folder' is left out: it is a link, and could lead elsewhere",
        "the skill 'pipe' is left out: SKILL.md is not a regular file",
    )


def test_other_things_in_the_folder_are_named_or_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "Loud Name").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / "SKILL.md").write_bytes(b"---\nname: latin\ndescription: \xe9\n---\nx")

    assert SkillShelf(tmp_path).collect().warnings == (
        "the skill 'Loud Name' is left out: a name is up to 64 lower-case letters, digits and "
        "hyphens",
        "the skill 'empty' is left out: No such file or directory",
        "the skill 'latin' is left out: SKILL.md is not UTF-8 text",
    )


def test_one_skill_too_many_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skills, "MOST_SKILLS", 4)
    write(tmp_path, "a")
    write(tmp_path, "b")

    found = SkillShelf(tmp_path).collect()

    assert [skill.name for skill in found.skills] == ["a", *BUILTIN]
    assert found.warnings == ("the skill 'b' is left out: there are more than 4 skills",)


def test_front_matter_may_go_on_in_lines_that_are_set_in() -> None:
    front = "name: x\nlicense: any\ndescription: >\n  One\n  two.\nkeywords: 'a, oven'"
    text = f"\ufeff---\n{front}\n---\nb"
    assert parse_skill("x", text) == Skill("x", "One two.", "b", keywords=("oven",))
    with pytest.raises(SkillFault):
        parse_skill("y", text)


@pytest.mark.parametrize(
    ("message", "chosen"),
    [
        ("Find the failing test and fix it", ["careful-edit"]),
        ("commit my changes, please", ["git-hygiene"]),
        ("rebase this branch onto main", ["git-hygiene"]),
        ("Is it risky to delete the old tables?", ["explain-risk"]),
        ("What is the weather like?", []),
        ("hello", []),
        ("", []),
    ],
)
def test_skills_that_fit_a_message_are_chosen_by_its_words(message: str, chosen: list[str]) -> None:
    found = fitting(SkillShelf().list_all(), message, 3)
    assert [skill.name for skill in found] == chosen


def test_no_more_are_chosen_than_wanted() -> None:
    message = "fix, commit and delete: what are the risks?"
    assert len(fitting(SkillShelf().list_all(), message, 3)) == 3
    assert len(fitting(SkillShelf().list_all(), message, 1)) == 1
