"""Commands that run other commands: which of their words are those."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "fish"])

# Builtins that look for substitutions in words which were quoted against them.
# fmt: off
EVALUATING = frozenset([
    "let", "test", "[", "[[", "printf", "read", "declare", "typeset", "local", "export", "readonly",
    "unset", "mapfile", "readarray", "wait",
])
# fmt: on

_FOUND = "{}"
_EXECS = ("-exec", "-execdir", "-ok", "-okdir")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A command whose operands are a command: flags that take a value, operands that go before."""

    values: frozenset[str] = field(default_factory=frozenset[str])
    operands: int = 0


def _wrapper(values: str = "", operands: int = 0) -> Wrapper:
    return Wrapper(frozenset(values.split()), operands)


_WRAPPERS = {
    "sudo": _wrapper("-u -g -h -p -C -r -t -D -R -T -U --user --group --host --prompt --chdir"),
    "doas": _wrapper("-u -C"),
    "env": _wrapper("-u -C --unset --chdir"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -p --class --classdata"),
    "chrt": _wrapper("-T -P -D", 1),
    "taskset": _wrapper("", 1),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "timeout": _wrapper("-s -k --signal --kill-after", 1),
    "time": _wrapper("-f -o --format --output"),
    "coproc": _wrapper(),
    "xargs": _wrapper(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-chars --max-procs"
    ),
    "parallel": _wrapper("-j -a -I --jobs --arg-file"),
    "watch": _wrapper("-n --interval"),
    "flock": _wrapper("-w -E --timeout --conflict-exit-code", 1),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "command": _wrapper(),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "chroot": _wrapper("", 1),
    "unshare": _wrapper(),
    "nsenter": _wrapper("-t --target"),
    "strace": _wrapper("-e -o -p -s -u -a -E -I -O -P -S"),
    "ltrace": _wrapper("-e -o -p -s -u -a -n"),
    "script": _wrapper(),
    "npx": _wrapper("-p -c --package --call"),
    "firejail": _wrapper(),
    "bwrap": _wrapper(),
    "caffeinate": _wrapper("-t -w"),
}
# The word behind one of these flags is a whole script.
_SCRIPT_FLAGS = {
    "su": ("-c", "--command"),
    "runuser": ("-c", "--command"),
    "flock": ("-c", "--command"),
    "script": ("-c", "--command"),
    "env": ("-S", "--split-string"),
    "npx": ("-c", "--call"),
    "nix-shell": ("--run", "--command"),
}


def base_name(word: str) -> str:
    return word.rpartition("/")[2]


def inner_commands(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """The commands that this one is told to run, as words of its own."""
    name = base_name(words[0])
    if name == "find":
        for at, word in enumerate(words):
            if word in _EXECS:
                yield _until_end(words, at + 1)
    elif wrapper := _WRAPPERS.get(name):
        yield _behind(words[1:], wrapper)


def inner_scripts(words: Sequence[str]) -> Iterator[str]:
    """The whole scripts among these words: what a shell would read and run."""
    name, rest = base_name(words[0]), words[1:]
    if name in SHELLS:
        yield from _script_of_shell(rest)
    elif name in ("eval", "watch", "parallel"):
        yield " ".join(word for word in rest if not word.startswith("-"))
    elif name == "trap":
        yield from rest[:1]
    elif name == "alias":
        yield from (word.partition("=")[2] for word in rest)
    elif name in EVALUATING:
        yield from (word for word in rest if "$(" in word or "`" in word)
    if flags := _SCRIPT_FLAGS.get(name):
        yield from _behind_flags(rest, flags)


def reads_script(words: Sequence[str]) -> bool:
    """Whether this is a shell that takes its script from its input."""
    return base_name(words[0]) in SHELLS and all(word.startswith("-") for word in words[1:])


def _script_of_shell(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        if not word.startswith(("-", "+")):
            return
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            # The script is the first word behind the flags.
            yield next((one for one in words[at + 1 :] if not one.startswith("-")), "")
            return


def _behind_flags(words: Sequence[str], flags: tuple[str, ...]) -> Iterator[str]:
    for at, word in enumerate(words):
        if word in flags:
            yield from words[at + 1 : at + 2]
        for flag in flags:
            if word.startswith(f"{flag}=") or (len(flag) == 2 and word.startswith(flag)):
                yield word.removeprefix(flag).removeprefix("=")


def _until_end(words: Sequence[str], start: int) -> Sequence[str]:
    """Also to the next of its kind, which is seen by itself: so no word is seen many times over."""
    for at in range(start, len(words)):
        ends = words[at] == ";" or (words[at] == "+" and words[at - 1] == _FOUND)
        if ends or words[at] in _EXECS:
            return words[start:at]
    return words[start:]


def _behind(words: Sequence[str], wrapper: Wrapper) -> Sequence[str]:
    """What is left when flags, assignments and the wrapper's own operands are passed."""
    at, operands = 0, wrapper.operands
    while at < len(words):
        word = words[at]
        if word in wrapper.values:
            at += 2
        elif word.startswith("-") or _is_assignment(word):
            at += 1
        elif operands:
            at, operands = at + 1, operands - 1
        else:
            break
    return words[at:]


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()
