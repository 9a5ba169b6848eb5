"""The filter is one that the kernel takes, for each profile and kind of processor."""

import struct

import pytest

from handrail.core.box import Profile
from handrail.executors.sandbox.seccomp import filter_for, is_known
from handrail.executors.sandbox.system_calls import MACHINES

_LOAD, _RETURN = 0x20, 0x06
_JUMPS = {0x15, 0x35, 0x45}


def steps(program: bytes) -> list[tuple[int, int, int, int]]:
    return list(struct.iter_unpack("HBBI", program))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("profile", Profile)
def test_every_jump_lands_in_the_program(machine: str, profile: Profile) -> None:
    program = steps(filter_for(profile, machine))
    for place, (code, then, otherwise, _) in enumerate(program):
        if code in _JUMPS:
            assert place + 1 + max(then, otherwise) < len(program)
        else:
            assert code in (_LOAD, _RETURN)
    assert program[-1][0] == _RETURN
    assert len(program) <= 4096


class Kernel:
    """Runs a filter as the kernel would, on one call."""

    def __init__(self, program: bytes, machine: str):
        self._steps = steps(program)
        self._machine = MACHINES[machine].audit_name

    def answer(self, number: int, *arguments: int, machine: int | None = None) -> int:
        told = struct.pack(
            "=iIQ6Q", number, machine or self._machine, 0, *arguments, *[0] * (6 - len(arguments))
        )
        accumulator, place = 0, 0
        while True:
            code, then, otherwise, value = self._steps[place]
            place += 1
            if code == _LOAD:
                (accumulator,) = struct.unpack_from("=I", told, value)
            elif code == _RETURN:
                return value
            else:
                true = {
                    0x15: accumulator == value,
                    0x35: accumulator >= value,
                    0x45: bool(accumulator & value),
                }[code]
                place += then if true else otherwise


ALLOW, EPERM, ENOSYS, KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000
THREAD, NEW_USER = 0x00010000, 0x10000000


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("profile", "call", "arguments", "answer"),
    [
        (Profile.READ, "clone", [THREAD], ALLOW),
        (Profile.READ, "clone", [17], EPERM),
        (Profile.WRITE, "clone", [17], ALLOW),
        (Profile.WRITE, "clone", [NEW_USER | 17], EPERM),
        (Profile.NET, "clone", [NEW_USER | 17], EPERM),
        (Profile.READ, "clone3", [], ENOSYS),
        (Profile.WRITE, "clone3", [], ENOSYS),
        (Profile.WRITE, "openat2", [], ENOSYS),
        (Profile.WRITE, "socketpair", [30], EPERM),
        (Profile.WRITE, "fchmod", [0, 0o755], ALLOW),
        (Profile.WRITE, "fchmod", [0, 0o4755], EPERM),
        (Profile.WRITE, "fchmodat", [0, 0, 0o2755], EPERM),
        (Profile.WRITE, "fchmodat2", [0, 0, 0o4755], EPERM),
        (Profile.WRITE, "mknodat", [0, 0, 0o104755], EPERM),
        (Profile.WRITE, "openat", [0, 0, 0o101, 0o644], ALLOW),
        (Profile.WRITE, "openat", [0, 0, 0o101, 0o4755], EPERM),
        # Nobody means anything by a mode where nothing is made.
        (Profile.WRITE, "openat", [0, 0, 0, 0o6777], ALLOW),
        (Profile.READ, "socket", [1], EPERM),
        (Profile.READ, "socketpair", [1], EPERM),
        (Profile.WRITE, "socket", [1], ALLOW),
        (Profile.WRITE, "socket", [2], ALLOW),
        (Profile.WRITE, "socket", [10], ALLOW),
        (Profile.WRITE, "socket", [16], ALLOW),
        (Profile.WRITE, "socket", [17], EPERM),
        (Profile.WRITE, "socket", [40], EPERM),
        (Profile.NET, "socket", [38], EPERM),
        (Profile.WRITE, "socketpair", [1], ALLOW),
        (Profile.WRITE, "ioctl", [0, 0x5412], EPERM),
        (Profile.WRITE, "ioctl", [0, 0x541C], EPERM),
        (Profile.WRITE, "ioctl", [0, 0x5401], ALLOW),
        (Profile.READ, "fcntl", [0, 1024, 1], EPERM),
        (Profile.WRITE, "fcntl", [0, 1026], EPERM),
        (Profile.WRITE, "fcntl", [0, 1030], ALLOW),
        (Profile.WRITE, "mount", [], EPERM),
        (Profile.READ, "ptrace", [], EPERM),
        (Profile.NET, "io_uring_setup", [], EPERM),
        (Profile.READ, "bpf", [], EPERM),
    ],
)
def test_a_call_is_answered_as_its_profile_says(
    machine: str, profile: Profile, call: str, arguments: list[int], answer: int
) -> None:
    kernel = Kernel(filter_for(profile, machine), machine)
    assert kernel.answer(MACHINES[machine].numbers[call], *arguments) == answer


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        ("setpriority", [0, 0, 5], ALLOW),
        ("setpriority", [0, 4711, 5], EPERM),
        ("setpriority", [1, 0, 5], EPERM),
        ("setpriority", [2, 0, 5], EPERM),
        ("ioprio_set", [1, 0, 5], ALLOW),
        ("ioprio_set", [1, 4711, 5], EPERM),
        ("ioprio_set", [2, 0, 5], EPERM),
        ("sched_setaffinity", [0, 8], ALLOW),
        ("sched_setaffinity", [4711, 8], EPERM),
        ("sched_setattr", [4711], EPERM),
        ("sched_setparam", [4711], EPERM),
        ("sched_setscheduler", [4711], EPERM),
    ],
)
def test_behind_a_fence_nobody_sets_the_pace_of_others(
    machine: str, call: str, arguments: list[int], answer: int
) -> None:
    number = MACHINES[machine].numbers[call]
    fenced = Kernel(filter_for(Profile.WRITE, machine, fenced=True), machine)
    boxed = Kernel(filter_for(Profile.WRITE, machine), machine)
    assert fenced.answer(number, *arguments) == answer
    assert boxed.answer(number, *arguments) == ALLOW


def test_fork_by_its_old_names_is_refused_to_who_only_reads() -> None:
    numbers = MACHINES["x86_64"].numbers
    read = Kernel(filter_for(Profile.READ, "x86_64"), "x86_64")
    write = Kernel(filter_for(Profile.WRITE, "x86_64"), "x86_64")
    for call in ("fork", "vfork"):
        assert (read.answer(numbers[call]), write.answer(numbers[call])) == (EPERM, ALLOW)


def test_who_speaks_for_another_machine_is_ended() -> None:
    kernel = Kernel(filter_for(Profile.WRITE, "x86_64"), "x86_64")
    assert kernel.answer(0, machine=0x40000003) == KILL


def test_another_numbering_of_the_same_calls_is_answered_as_unknown() -> None:
    kernel = Kernel(filter_for(Profile.WRITE, "x86_64"), "x86_64")
    assert kernel.answer(0x40000000 + 41, 2) == ENOSYS


@pytest.mark.parametrize("profile", Profile)
def test_ordinary_calls_pass(profile: Profile) -> None:
    kernel = Kernel(filter_for(profile, "x86_64"), "x86_64")
    for ordinary in (0, 1, 2, 3, 9, 59, 257, 262, 332):
        assert kernel.answer(ordinary) == ALLOW


def test_a_processor_that_nobody_has_described_has_no_filter() -> None:
    assert is_known("x86_64")
    assert not is_known("riscv64")
    with pytest.raises(KeyError):
        filter_for(Profile.READ, "riscv64")
