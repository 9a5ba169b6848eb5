"""Skills: folders with a SKILL.md, those of the person before those that come with Handrail."""

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from handrail.core.skill import MOST_NAME_CHARS, Skill
from handrail.knowledge.words import content_words

MOST_BYTES = 64_000
MOST_SKILLS = 200
_MOST_DESCRIPTION_CHARS = 1_000
_NAME = re.compile(rf"[a-z0-9-]{{1,{MOST_NAME_CHARS}}}")
_FILE = "SKILL.md"
_FENCE = "---"
# A word of the name, or a keyword, says as much as two of the description; this much it takes.
_NAME_WEIGHS = 2
_LEAST_FIT = 2
_ENDINGS = ("ings", "ing", "ies", "ed", "es", "er", "s", "e", "y")
_LEAST_STEM = 3


class SkillFault(Exception):
    """Why a folder is no skill, in words."""


class Collection(NamedTuple):
    """The skills that can be used, by name, and a sentence about each folder that cannot."""

    skills: tuple[Skill, ...]
    warnings: tuple[str, ...]


class SkillShelf:
    """The skills of one Handrail folder. Looked at anew each time: people edit them."""

    def __init__(self, folder: Path | None = None):
        self._folder = folder

    def list_all(self) -> Sequence[Skill]:
        return self.collect().skills

    def find(self, name: str) -> Skill | None:
        if not _NAME.fullmatch(name):
            return None
        return next((skill for skill in self.list_all() if skill.name == name), None)

    def collect(self) -> Collection:
        found = {skill.name: skill for skill in _builtin()}
        warnings: list[str] = []
        for name in _names_in(self._folder):
            assert self._folder is not None  # noqa: S101  else there were no names
            try:
                if len(found) >= MOST_SKILLS:
                    raise SkillFault(f"there are more than {MOST_SKILLS} skills")
                found[name] = _read(self._folder, name)
            except SkillFault as fault:
                warnings.append(f"the skill {name!a} is left out: {fault}")
        return Collection(tuple(found[name] for name in sorted(found)), tuple(warnings))


def fitting(skills: Sequence[Skill], message: str, most: int) -> list[Skill]:
    """The skills whose name and description share words with a message, best first."""
    asked = {_stem(word) for word in content_words(message)}
    fits = {skill.name: _fit(skill, asked) for skill in skills}
    chosen = [skill for skill in skills if fits[skill.name] >= _LEAST_FIT]
    return sorted(chosen, key=lambda skill: (-fits[skill.name], skill.name))[:most]


def parse_skill(name: str, text: str, *, builtin: bool = False) -> Skill:
    """A skill from its file: between two lines of `---` its name and description, then its body.

    Beside them may stand `keywords`; whatever else does is for others.

    Raises:
        SkillFault: It is not written like that.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].strip() != _FENCE:
        raise SkillFault(f"{_FILE} does not begin with a line of ---")
    ends = [number for number, line in enumerate(lines[1:], 1) if line.strip() == _FENCE]
    if not ends:
        raise SkillFault("there is no second line of --- after its description")
    front = dict(_front_matter(lines[1 : ends[0]]))
    description, body = front.get("description", ""), "\n".join(lines[ends[0] + 1 :]).strip()
    if front.get("name") != name:
        raise SkillFault(f"its name must be that of its folder, {name}")
    if not description:
        raise SkillFault("it has no description")
    if len(description) > _MOST_DESCRIPTION_CHARS:
        raise SkillFault(f"its description has more than {_MOST_DESCRIPTION_CHARS:,} characters")
    if not body:
        raise SkillFault("there is nothing after its description")
    keywords = tuple(content_words(front.get("keywords", "")))
    return Skill(name, description, body, builtin, keywords)


def _front_matter(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`name: words`, where lines that are set in go on with the words of the one before."""
    name, words = "", list[str]()
    for line in lines:
        if line[:1].isspace():
            words.append(line.strip())
            continue
        if name:
            yield name, _joined(words)
        name, _, rest = line.partition(":")
        name, words = name.strip().lower(), [rest.strip()]
    if name:
        yield name, _joined(words)


def _joined(words: list[str]) -> str:
    first = words[0] if words[0] not in (">", ">-", "|", "|-") else ""
    text = " ".join(filter(None, [first, *words[1:]]))
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _builtin() -> Iterator[Skill]:
    for folder in files("handrail.knowledge").joinpath("builtin_skills").iterdir():
        text = folder.joinpath(_FILE).read_text(encoding="utf-8")
        yield parse_skill(folder.name, text, builtin=True)


def _names_in(folder: Path | None) -> list[str]:
    """The folders in it, sorted; what is hidden is none of ours."""
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            return sorted(one.name for one in entries if _is_meant(one))
    except OSError:
        return []  # Most people have none.


def _is_meant(entry: "os.DirEntry[str]") -> bool:
    return not entry.name.startswith(".") and (entry.is_symlink() or entry.is_dir())


def _read(folder: Path, name: str) -> Skill:
    if not _NAME.fullmatch(name):
        raise SkillFault(
            f"a name is up to {MOST_NAME_CHARS} lower-case letters, digits and hyphens"
        )
    try:
        data = _read_beneath(folder / name)
        return parse_skill(name, data.decode())
    except UnicodeDecodeError:
        raise SkillFault(f"{_FILE} is not UTF-8 text") from None
    except OSError as error:
        is_link = error.errno in (errno.ELOOP, errno.ENOTDIR)
        why = "it is a link, and could lead elsewhere" if is_link else (error.strerror or "")
        raise SkillFault(why) from None


def _read_beneath(folder: Path) -> bytes:
    """The file, unless it or its folder is a link, or it is anything but a plain file."""
    way = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(_FILE, flags, dir_fd=way), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise SkillFault(f"{_FILE} is not a regular file")
            data = file.read(MOST_BYTES + 1)
    finally:
        with suppress(OSError):
            os.close(way)
    if len(data) > MOST_BYTES:
        raise SkillFault(f"{_FILE} has more than {MOST_BYTES:,} bytes")
    return data


def _fit(skill: Skill, asked: set[str]) -> int:
    names = {_stem(word) for word in (*skill.name.split("-"), *skill.keywords)}
    description = {_stem(word) for word in content_words(skill.description)} - names
    return _NAME_WEIGHS * len(names & asked) + len(description & asked)


def _stem(word: str) -> str:
    """Without its ending, roughly: `editing`, `edits` and `edit` are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            return word.removesuffix(ending)
    return word
