"""What bash itself makes of a string, with no program anywhere that it could start."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from handrail.policy.shell.script import Join, Script, Step, Stream

BASH = shutil.which("bash")

# Every command, known or not, ends in `__note`, which writes down who it is, where it reads from
# and writes to, what it is given to read, and its words. Only `cat` does what it does everywhere:
# it stands for `"$(cat <<'EOF' …)"`, and no command of that name is compared.
_PRELUDE = r"""
__note() {
    local from=- to=? errors=? text=
    # A here-document comes as a pipe or, when it is long, as a file.
    if [[ -p /dev/fd/0 || -f /dev/fd/0 ]]; then from='|'; IFS= builtin read -r -d '' text; fi
    if [[ -p /dev/fd/1 ]]; then to='|'
    elif [[ /dev/fd/1 -ef /dev/null ]]; then to=0
    elif [[ /dev/fd/1 -ef $__home/out ]]; then to=o
    elif [[ /dev/fd/1 -ef $__home/err ]]; then to=e; fi
    if [[ -p /dev/fd/2 ]]; then errors='|'
    elif [[ /dev/fd/2 -ef /dev/null ]]; then errors=0
    elif [[ /dev/fd/2 -ef $__home/out ]]; then errors=o
    elif [[ /dev/fd/2 -ef $__home/err ]]; then errors=e; fi
    # Without line ends it is written in one piece, whoever else writes at the same time.
    builtin printf '%s\0' . "$__at" "$BASHPID" "$from$to$errors" "${text//$'\n'/$'\1'}" "$#" \
        "${@//$'\n'/$'\1'}" >&9
    return "$__status"
}
command_not_found_handle() { __note "$@"; }
cat() { local text; IFS= builtin read -r -d '' text; builtin printf %s "$text"; }
exec 9>>"$__home/notes" </dev/null >"$__home/out" 2>"$__home/err"
mapfile -d '' -t __strings <"$__home/strings"
while read -r _ __name; do
    case $__name in builtin|eval|printf|local|return|enable|read) ;; *) enable -n "$__name" ;; esac
done < <(enable)
"""
_ALL = r"""
for ((__at = 0; __at < ${#__strings[@]}; __at++)); do builtin eval -- "${__strings[__at]}"; done
"""
_FAR = 1_000
_PATIENCE_SECONDS = 60
_KEPT = frozenset(["builtin", "local", "return"])


@dataclass(frozen=True, slots=True)
class Call:
    """One command as it was started: from where, to where, with which words and which input."""

    streams: str
    argv: tuple[str, ...]
    stdin: str = ""


Calls = tuple[Call, ...]
_Note = tuple[int, Call]
Runs = tuple[Calls, Calls]
"""The calls when every command succeeds, and when every command fails.

Together the two show every `&&`, `||` and `;` for what it is.
"""


def version_of_bash() -> int:
    if BASH is None:
        return 0
    command = [BASH, "--norc", "--noprofile", "-c", 'echo "${BASH_VERSINFO[0]}"']
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def truth(strings: Sequence[str], names: Iterable[str], options: str = "") -> list[Runs]:
    """What bash runs for each of these strings, one after the other in one process.

    Names only spare it a search: a command of another name is written down as well.
    """
    prelude = _prelude(names, options)
    return list(zip(*(_notes(strings, prelude, _ALL, status) for status in "01"), strict=True))


def truth_alone(text: str, names: Iterable[str]) -> Runs:
    """What `bash -c` runs for this one string."""
    prelude = _prelude(names)
    return _notes([text], prelude, text, "0")[0], _notes([text], prelude, text, "1")[0]


def _prelude(names: Iterable[str], options: str = "") -> str:
    functions = [f'function {name} {{ __note {name} "$@"; }}\n' for name in set(names) - _KEPT]
    return "".join([*functions, options, _PRELUDE])


def _notes(strings: Sequence[str], prelude: str, program: str, status: str) -> list[Calls]:
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        home, empty = Path(folder), Path(folder) / "empty"
        empty.mkdir()
        (home / "strings").write_bytes(b"".join(text.encode() + b"\0" for text in strings))
        (home / "prelude").write_text(prelude)
        env = {"PATH": str(empty), "LC_ALL": "C.UTF-8", "BASH_ENV": str(home / "prelude")}
        env |= {"__home": folder, "__at": "0", "__status": status}
        command = [BASH or "bash", "-c", program]
        shell = subprocess.Popen(command, env=env, cwd=empty, start_new_session=True)
        # What we misread may run for ever, or leave somebody behind.
        with suppress(subprocess.TimeoutExpired):
            shell.wait(_PATIENCE_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
        return _read_notes((home / "notes").read_bytes(), len(strings), shell.pid)


def _read_notes(notes: bytes, count: int, shell: int) -> list[Calls]:
    found: list[list[_Note]] = [[] for _ in range(count)]
    fields = iter(notes.decode().replace("\1", "\n").split("\0"))
    while next(fields):
        at, pid, streams, text = int(next(fields)), int(next(fields)), next(fields), next(fields)
        argv = tuple(next(fields) for _ in range(int(next(fields))))
        found[at].append((pid, Call(streams, argv, text)))
    return [_in_order(some, shell) for some in found]


def _in_order(notes: Sequence[_Note], shell: int) -> Calls:
    """The steps of a pipeline are started from left to right, and may write in any order."""
    calls: list[Call] = []
    for is_own, group in groupby(notes, key=lambda note: note[0] == shell):
        some = list(group)
        if not is_own:
            # Process ids start again from below when they have run out.
            first = min((pid for pid, _ in some if pid > max(some)[0] - _FAR), default=0)
            some.sort(key=lambda note: (note[0] < first, note[0]))
        calls += [call for _, call in some]
    return tuple(calls)


def expected(script: Script) -> Runs:
    """What would run if the script were right."""
    return _calls(script, succeed=True), _calls(script, succeed=False)


def _calls(script: Script, *, succeed: bool) -> Calls:
    calls: list[Call] = []
    is_well = True
    for pipeline in _pipelines(script):
        join = pipeline[0].join
        if (join is Join.AND and not is_well) or (join is Join.OR and is_well):
            continue
        is_well = succeed
        for place, step in enumerate(pipeline):
            out = "|" if place + 1 < len(pipeline) else "o"
            where = {Stream.OUT: out, Stream.ERR: "e", Stream.NULL: "0"}
            source = "|" if step.stdin or (step.stdin is None and place) else "-"
            streams = source + where[step.stdout] + where[step.stderr]
            argv = tuple(word.text for word in step.words)
            calls.append(Call(streams, argv, step.stdin or ""))
    return tuple(calls)


def _pipelines(script: Script) -> list[list[Step]]:
    pipelines: list[list[Step]] = []
    for step in script.steps:
        if step.join is Join.PIPE:
            pipelines[-1].append(step)
        else:
            pipelines.append([step])
    return pipelines
