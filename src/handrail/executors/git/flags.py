"""What git's commands that reach a remote take for flags, and which of these take a value.

Which word is the remote depends on it. So a flag counts that is written in full and stands here, as
git's own manual has it, and with any other one nobody can tell.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Read(NamedTuple):
    """The words of a command: its operands, its flags by their names, and values of flags."""

    operands: tuple[str, ...]
    flags: frozenset[str]
    values: tuple[str, ...]


class Flags(NamedTuple):
    """Flags without a value, with one, and with one that is never a word of its own."""

    alone: frozenset[str]
    valued: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()

    def read(self, words: Sequence[str]) -> Read:
        """Tell operands from flags and from their values.

        Raises:
            ValueError: A word is no flag that is known; it says which.
        """
        operands: list[str] = []
        flags: set[str] = set()
        values: list[str] = []
        ahead = list(reversed(words))
        while ahead:
            word = ahead.pop()
            if word == "--":
                operands += reversed(ahead)
                break
            if not word.startswith("-") or word == "-":
                operands.append(word)
                continue
            names, value = self._long(word) if word.startswith("--") else self._letters(word)
            flags.update(names)
            if value is None and names[-1] in self.valued:
                if not ahead:
                    raise ValueError(word)
                value = ahead.pop()
            values += [] if value is None else [value]
        return Read(tuple(operands), frozenset(flags), tuple(values))

    def _long(self, word: str) -> tuple[list[str], str | None]:
        name, mark, value = word.partition("=")
        if name in self.alone and not mark:
            return [name], None
        if name in self.optional or name in self.valued:
            return [name], value if mark else None
        positive = f"--{name.removeprefix('--no-')}"
        known = self.alone | self.valued | self.optional
        if mark or not name.startswith("--no-") or positive not in known:
            raise ValueError(word)
        return [name], None

    def _letters(self, word: str) -> tuple[list[str], str | None]:
        names: list[str] = []
        for at, letter in enumerate(word[1:], start=2):
            names.append(f"-{letter}")
            if names[-1] in self.valued or names[-1] in self.optional:
                return names, word[at:] or None
            if names[-1] not in self.alone:
                raise ValueError(word)
        return names, None


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_DEPTH = "--depth --deepen --shallow-since --shallow-exclude"
_SAYING = "-v --verbose -q --quiet --progress"
_WHERE = "-4 --ipv4 -6 --ipv6"
_FETCHING = (
    f"{_SAYING} {_WHERE} --all -a --append -f --force -t --tags -p --prune --dry-run -k --keep"
    " --unshallow --update-shallow --show-forced-updates --set-upstream"
)
_FETCHING_WITH = f"{_DEPTH} --upload-pack --refmap -o --server-option --negotiation-tip"
FLAGS = {
    "fetch": Flags(
        _set(
            f"{_FETCHING} -m --multiple -n --atomic -P --prune-tags --prefetch --porcelain"
            " --write-fetch-head -u --update-head-ok --refetch --negotiate-only --auto-maintenance"
            " --auto-gc --write-commit-graph --stdin"
        ),
        _set(f"{_FETCHING_WITH} -j --jobs --filter"),
        _set("--recurse-submodules"),
    ),
    "pull": Flags(
        _set(
            f"{_FETCHING} -n --stat --summary --compact-summary --squash --commit --edit -e --ff"
            " --ff-only --verify --verify-signatures --autostash --allow-unrelated-histories"
        ),
        _set(f"{_FETCHING_WITH} --cleanup -s --strategy -X --strategy-option"),
        _set("-r --rebase --log --signoff -S --gpg-sign -j --jobs --recurse-submodules"),
    ),
    "push": Flags(
        _set(
            f"{_SAYING} {_WHERE} --all --branches --tags -n --dry-run --porcelain --thin -u"
            " --set-upstream --verify --follow-tags --atomic"
        ),
        _set("-o --push-option"),
        _set("--signed"),
    ),
    "clone": Flags(
        _set(
            f"{_SAYING} {_WHERE} --reject-shallow -n --checkout -l --local --hardlinks -s --shared"
            " --dissociate --single-branch --tags --shallow-submodules --also-filter-submodules"
            " --remote-submodules --sparse"
        ),
        _set(
            "-j --jobs --reference --reference-if-able -o --origin -b --branch --depth"
            " --shallow-since --shallow-exclude --server-option --filter --revision --ref-format"
        ),
        _set("--recurse-submodules --recursive"),
    ),
    "ls-remote": Flags(
        _set("-q --quiet -t --tags -h --heads -b --branches --refs --get-url --exit-code --symref"),
        _set("--sort -o --server-option"),
    ),
    "remote show": Flags(_set("-n")),
    "remote update": Flags(_set("-p --prune")),
    "remote prune": Flags(_set("-n --dry-run")),
    "submodule add": Flags(
        _set("-q --quiet -f --force --progress --dissociate"),
        _set("-b --branch --name --reference --depth --ref-format"),
    ),
}
# In front of a command's own.
LEADING = frozenset({"-v", "--verbose", "-q", "--quiet", "--cached"})
