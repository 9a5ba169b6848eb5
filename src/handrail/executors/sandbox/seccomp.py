"""Which system calls a box answers, as the program that the kernel runs before each of them.

Mounts and namespaces say what can be reached; this says what can be tried at all. A call that no
ordinary program needs is refused, so that a hole in the kernel behind it stays out of reach.
"""

import errno
import platform
import struct
from collections.abc import Iterable

from handrail.core.box import Profile
from handrail.executors.sandbox.system_calls import MACHINES

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
# Where the kernel puts what it tells of a call; of an argument only the lower half matters here.
_AT_NUMBER, _AT_MACHINE = 0, 4
_AT_FIRST, _AT_SECOND, _AT_THIRD, _AT_FOURTH = 16, 24, 32, 40

_OTHER_NUMBERING = 0x40000000
_NEW_THREAD = 0x00010000
_ITSELF = 0
# By these the pace of a process is set, as the first argument says of whom.
_PACES = ("sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr")
# By these that of a process, a group or a person; of which kind the first says, of whom the second.
_PACES_OF_KIND = {"setpriority": 0, "ioprio_set": 1}
_NEW_NAMESPACE = 0x7E020000
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)
# A lease makes whoever opens the file wait, and a notice tells of what others do in a folder.
_LEASE, _NOTICE = 1024, 1026
# Each box has a network of its own, so these lead nowhere else. Others have no such walls.
_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
# With these, a program lends whoever starts it the rights of its owner, and does so outside too.
_SET_ID = 0o6000
_CREATES = 0o100 | 0o20000000
# Where a call has its mode, and a call that opens has its flags.
_MODES = {
    "chmod": _AT_SECOND,
    "fchmod": _AT_SECOND,
    "fchmodat": _AT_THIRD,
    "fchmodat2": _AT_THIRD,
    "creat": _AT_SECOND,
    "mknod": _AT_SECOND,
    "mknodat": _AT_THIRD,
}
_OPENS = {"open": (_AT_SECOND, _AT_THIRD), "openat": (_AT_THIRD, _AT_FOURTH)}
# Their arguments lie in memory, where no filter can look; without them, older calls are used.
_UNSEEN = ("clone3", "openat2")

# What is asked about apart, because only some of its uses are refused.
_BY_ARGUMENT = {
    *("ioctl", "fcntl", "clone", "fork", "vfork", "socket", "socketpair", "prlimit64"),
    *_MODES,
    *_OPENS,
    *_UNSEEN,
    *_PACES,
    *_PACES_OF_KIND,
}


def is_known(machine: str | None = None) -> bool:
    """Whether there is a filter for this kind of processor."""
    return (machine or platform.machine()) in MACHINES


def filter_for(profile: Profile, machine: str | None = None, *, fenced: bool = False) -> bytes:
    """The program for one profile, as the kernel takes it.

    Behind a mere fence the network is the machine's own, so there are no sockets; and so are the
    processes, of which only its own can be limited or slowed down. Who only reads is
    kept from the changes that no fence stops; and in a box, where we are root, from those to the
    machine's own devices, which no mount keeps it from.

    Raises:
        KeyError: Nobody has written down how this kind of processor numbers its calls.
    """
    name, numbers, changes = MACHINES[machine or platform.machine()]
    program = [
        *_only_on(name),
        *_refuse_all(number for call, number in numbers.items() if call not in _BY_ARGUMENT),
        *_refuse_all((numbers[call] for call in _UNSEEN), errno.ENOSYS),
        *_refuse_if(numbers["ioctl"], _AT_SECOND, _JUMP_IF_EQUAL, _TYPE_INTO_TERMINAL),
        *_refuse_if(numbers["fcntl"], _AT_SECOND, _JUMP_IF_EQUAL, (_LEASE, _NOTICE)),
        *_refuse_set_id(numbers),
    ]
    if fenced:
        program += _refuse_all([numbers["socket"]])
        # Other processes can be named there; a limit ends them as a signal does.
        program += _refuse_unless(numbers["prlimit64"], _JUMP_IF_EQUAL, [_ITSELF])
        # Who is slowed down does not come to end what others leave behind.
        for call in _PACES:
            program += _refuse_unless(numbers[call], _JUMP_IF_EQUAL, [_ITSELF])
        for call, kind in _PACES_OF_KIND.items():
            program += _refuse_unless(numbers[call], _JUMP_IF_EQUAL, [kind])
            program += _refuse_if(numbers[call], _AT_SECOND, _JUMP_IF_AT_LEAST, [_ITSELF + 1])
    if profile is Profile.READ:
        program += _refuse_all(changes.values())
        program += _refuse_all(numbers[call] for call in ("fork", "vfork") if call in numbers)
        program += _refuse_unless(numbers["clone"], _JUMP_IF_ANY_BIT, [_NEW_THREAD])
        program += _refuse_all([numbers["socket"], numbers["socketpair"]])
    else:
        families = (_UNIX, _INTERNET, _INTERNET_6, _NETLINK)
        program += _refuse_if(numbers["clone"], _AT_FIRST, _JUMP_IF_ANY_BIT, [_NEW_NAMESPACE])
        program += _refuse_unless(numbers["socket"], _JUMP_IF_EQUAL, families)
        program += _refuse_unless(numbers["socketpair"], _JUMP_IF_EQUAL, [_UNIX])
    return b"".join([*program, _step(_RETURN, _ALLOW)])


def _only_on(machine: int) -> list[bytes]:
    """Who speaks another machine's language, or numbers the calls otherwise, gets nowhere."""
    return [
        _step(_LOAD, _AT_MACHINE),
        _step(_JUMP_IF_EQUAL, machine, then=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _AT_NUMBER),
        _step(_JUMP_IF_AT_LEAST, _OTHER_NUMBERING, otherwise=1),
        _step(_RETURN, _REFUSE | errno.ENOSYS),
    ]


def _refuse_all(numbers: Iterable[int], error: int = errno.EPERM) -> list[bytes]:
    return _refusals(_JUMP_IF_EQUAL, numbers, error)


def _refuse_if(number: int, at: int, test: int, values: Iterable[int]) -> list[bytes]:
    """Refuse a call with one of these values for its argument."""
    return _about(number, [_step(_LOAD, at), *_refusals(test, values)])


def _refusals(test: int, values: Iterable[int], error: int = errno.EPERM) -> list[bytes]:
    return [
        step
        for value in values
        for step in (_step(test, value, otherwise=1), _step(_RETURN, _REFUSE | error))
    ]


def _refuse_unless(number: int, test: int, values: Iterable[int]) -> list[bytes]:
    """Refuse a call unless its first argument is one of these values."""
    values = list(values)
    # Each test that comes true jumps over the others and over the refusal.
    tests = [_step(test, value, then=len(values) - place) for place, value in enumerate(values)]
    return _about(number, [_step(_LOAD, _AT_FIRST), *tests, _step(_RETURN, _REFUSE | errno.EPERM)])


def _refuse_set_id(numbers: dict[str, int]) -> list[bytes]:
    program: list[bytes] = []
    for call, mode in _MODES.items():
        if call in numbers:
            program += _refuse_if(numbers[call], mode, _JUMP_IF_ANY_BIT, [_SET_ID])
    for call, (flags, mode) in _OPENS.items():
        if call in numbers:
            refusal = [_step(_LOAD, mode), *_refusals(_JUMP_IF_ANY_BIT, [_SET_ID])]
            # Who opens what is there names no mode, and anything may stand in its place.
            creates = _step(_JUMP_IF_ANY_BIT, _CREATES, otherwise=len(refusal))
            program += _about(numbers[call], [_step(_LOAD, flags), creates, *refusal])
    return program


def _about(number: int, steps: list[bytes]) -> list[bytes]:
    """Steps for one call only; whoever comes next finds its number again."""
    return [
        _step(_JUMP_IF_EQUAL, number, otherwise=len(steps) + 1),
        *steps,
        _step(_LOAD, _AT_NUMBER),
    ]


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)
