"""What git takes for a flag's value is what git itself says of that flag."""

import re
import subprocess

import pytest

from handrail.executors.git.flags import FLAGS, Flags

_ROW = re.compile(
    r" {4}(?:(?P<short>-[A-Za-z0-9])(?:, )?)?(?P<long>--(?:\[no-\])?[a-z0-9-]+)?"
    r"(?P<value>\[=?[(<.].*?\]| [<(]\S+)?(?:\s|\Z)"
)


@pytest.mark.parametrize("sub", [sub for sub in FLAGS if sub != "submodule add"])
def test_git_knows_them_as_they_are_known_here(sub: str) -> None:
    told = subprocess.run(["git", *sub.split(), "-h"], capture_output=True, text=True, check=False)
    known = 0
    for row in filter(None, map(_ROW.match, (told.stdout + told.stderr).splitlines())):
        value = row["value"] or ""
        kind = "optional" if value.startswith("[") else "valued" if value else "alone"
        names = [row["short"], (row["long"] or "").replace("[no-]", "")]
        for name in filter(None, names):
            kinds = [one for one in Flags._fields if name in getattr(FLAGS[sub], one)]
            assert kinds in ([], [kind]), name
            known += bool(kinds)

    assert known


def test_a_word_is_read_as_git_reads_it() -> None:
    flags = Flags(frozenset({"-q", "--all"}), frozenset({"-o", "--depth"}), frozenset({"-r"}))

    line = "-qo a b --depth 3 --depth=4 -rx -r c --no-all -q -- -o d"
    read = flags.read(line.split())

    assert read.operands == ("b", "c", "-o", "d")
    assert read.values == ("a", "3", "4", "x")
    assert read.flags == {"-q", "-o", "--depth", "-r", "--no-all"}


@pytest.mark.parametrize(
    "word", ["--al", "-x", "-qx", "--all=yes", "--depth", "-o", "--no-x", "-no"]
)
def test_what_is_not_known_is_told(word: str) -> None:
    flags = Flags(frozenset({"-q", "--all"}), frozenset({"-o", "--depth"}))

    with pytest.raises(ValueError, match=f"^{word}$"):
        flags.read(["a", word])
