"""The objects behind tags, which git takes from packed-refs without a look at the tag."""

from collections.abc import Iterator, Sequence

from handrail.core.effects import GitNote
from handrail.executors.git_effects.clean_view import Query
from handrail.executors.git_effects.notes import refused, some
from handrail.executors.git_effects.trees import PackedRef, UnreadableError, short

_MISSING = " missing"


def ask_for_targets(refs: Sequence[PackedRef]) -> Query:
    rows = "".join(f"{one.value}^{{}}\n" for one in refs)
    return Query(("cat-file", "--batch-check=%(objectname)"), rows.encode())


def judge_targets(refs: Sequence[PackedRef], answer: bytes | None) -> Iterator[GitNote]:
    """Refuse packed-refs that name another object behind a tag than the tag does."""
    if answer is None:
        raise UnreadableError("git cannot look up the objects of its tags")
    real = answer.decode().splitlines()
    wrong = [
        short(one.name)
        for one, target in zip(refs, real, strict=True)
        if one.target not in ("", target)
        and not (one.target == one.value and target.endswith(_MISSING))
    ]
    if wrong:
        yield refused(f"packed-refs would show other objects than these refs name: {some(wrong)}")
