"""What the file tools have in common: how a change of a file is classed, shown and bound."""

import codecs
from collections.abc import Iterable

from handrail.core.errors import StaleFileError
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, FileState, Hands
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.sight import fact_of
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject
from handrail.core.visible import visible
from handrail.policy.redaction import mask_text
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator, plain
from handrail.policy.validators.sizes import SizeLimiter
from handrail.tools.diff import Diff, count_lines
from handrail.tools.encoding import decode_text

ABSENT = FileState(exists=False)
_ANY_EXECUTE = 0o111


def resolve(path: str, scene: Scene) -> str:
    return PathValidator(scene.workspace, scene.rules).resolve_path(path)


def judge_written(path: str, scene: Scene) -> list[Finding]:
    """Why a file may not be written, else what its kind says of a write."""
    validator = PathValidator(scene.workspace, scene.rules)
    if findings := validator.validate_path(path, writing=True):
        return findings
    return scene.rules.judge_write(validator.resolve_path(path))


def judge_encoding(text: str, encoding: str) -> list[Finding]:
    """A person is shown text, but programs read bytes, and most take them for UTF-8."""
    if _is_plain(text, encoding):
        return []
    if decode_text(text.encode(encoding), "utf-8") is not None:
        reason = f"written as {encoding}, this becomes other text than it shows"
        return [forbidden("write.disguise", reason)]
    reason = f"it is written as {encoding}, which few programs expect"
    return [Finding("write.encoding", reason, RiskLevel.HIGH)]


def encoding_note(text: str, encoding: str) -> str:
    return "" if _is_plain(text, encoding) else f", as {encoding}"


def _is_plain(text: str, encoding: str) -> bool:
    """Whether the bytes are those everybody expects of this text."""
    return text.encode(encoding).removeprefix(codecs.BOM_UTF8) == text.encode()


def judge_executable(path: str, found: FileContent) -> list[Finding]:
    if not found.mode & _ANY_EXECUTE:
        return []
    reason = f"{path!r} can be executed as a program"
    return [Finding("write.executable", reason, RiskLevel.HIGH)]


def class_of_writes(path: str) -> CallClass | None:
    """All writes to files of this kind in the same folder of the workspace, with any tool."""
    top, *below = path.split("/")
    stem, _, extension = (below or [top])[-1].rpartition(".")
    if not stem or not extension:
        return None
    if not below:
        kind = f"*.{extension}"
        return CallClass(f"write_file:{kind}", f"writes to {kind} in the workspace's top folder")
    kind = f"{top}/**/*.{extension}"
    return CallClass(f"write_file:{kind}", f"writes to {kind}")


async def find(path: str, hands: Hands) -> FileContent | None:
    return await hands.files.find(path, max_bytes=SizeLimiter().max_file_bytes)


def state_of(found: FileContent | None) -> FileState:
    return ABSENT if found is None else found.state


def check_facts(path: str, state: FileState, facts: JsonObject | None) -> None:
    """Raises StaleFileError if a file is not the one that was looked at."""
    if facts and FileState.from_facts(facts[fact_of(path)]) != state:
        raise StaleFileError(f"{path} has changed since it was checked")


def shown_path(path: str) -> str:
    return visible(plain(path))


def count_text_lines(text: str) -> str:
    return count_lines(line_count(text))


def line_count(text: str) -> int:
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def summarise(name: str, diff: Diff) -> str:
    """By how many lines a file changes; empty where lines do not tell it."""
    added, removed = diff.added, diff.removed
    if not (added or removed):
        return ""
    if not removed:
        return f"Add {count_lines(added)} to {name}"
    if not added:
        return f"Remove {count_lines(removed)} from {name}"
    counts = f"+{added:,} \N{MINUS SIGN}{removed:,}"
    return f"Change {count_lines(max(added, removed))} in {name} ({counts})"


def show_change(
    states: dict[str, FileState],
    diff: Diff,
    findings: Iterable[Finding] = (),
    *,
    summary: str,
    changes_nothing: bool = False,
) -> Survey:
    """A card with a diff, bound to the `states` of the files by their paths."""
    concerns = [*findings]
    if not diff.whole:
        concerns.append(Finding("write.shown-in-part", diff.not_shown, RiskLevel.HIGH))
    return Survey(
        {fact_of(path): state.as_facts() for path, state in states.items()},
        tuple(concerns),
        mask_text(diff.text),
        unmasked=diff.text,
        summary=summary,
        changes_nothing=changes_nothing,
    )
