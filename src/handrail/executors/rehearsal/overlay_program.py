"""The program of the maker: one process per client that mounts overlays and starts boxes in them.

Mounting needs a user and a mount namespace, which a process with several threads cannot enter. A
fresh interpreter for each command would take too long, so this one enters them once. It imports the
standard library only. It ends with its client, and every box that it started is killed with it.

An order is a JSON object in the first descriptor of a message. `start` is answered over a socket of
its own, all others over the line they came by.
"""

import array
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT = 0x1, 0x2, 0x4, 0x8, 0x20
_MS_BIND, _MS_REC, _MS_SLAVE = 0x1000, 0x4000, 0x80000
# Those that bubblewrap binds into each box.
_DEVICES = ("/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero")
_MNT_DETACH = 2
_NEW_MOUNTS, _NEW_NETWORK, _NEW_USERS = 0x20000, 0x40000000, 0x10000000
_SET_DEATH_SIGNAL, _SET_REAPER = 1, 36
_MOST_DESCRIPTORS = 253
_DONE = b"\0"
_LAST_STREAM = 2
_BREATH_MILLISECONDS = 30
_COULD_NOT = 125
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_NAME_SERVER = ("127.0.0.1", 53)
# The kernel kills what was started unasked before it kills anything else.
_FIRST_TO_KILL = "800"

_libc = ctypes.CDLL(None, use_errno=True)
Order = dict[str, Any]


class _Orders:
    """Executes orders; `children` are the sockets over which the end of a box is reported.

    A `spare` child is forked ahead, with a network of its own, and waits to become the next box.
    """

    def __init__(self, line: socket.socket):
        self._line = line
        self._spare: tuple[int, socket.socket] | None = _fork_spare()
        self._children: dict[int, socket.socket] = {}
        self._orders: dict[str, Callable[[Order], list[int]]] = {
            "memory": _mount_memory,
            "overlay": _mount_overlay,
            "unmount": _unmount,
        }

    def serve(self) -> None:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        # Without a handler nothing is written to the wakeup descriptor.
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        waiting = select.poll()
        waiting.register(self._line, select.POLLIN)
        waiting.register(reader, select.POLLIN)
        while True:
            ready = {fd for fd, _ in waiting.poll(None if self._spare else _BREATH_MILLISECONDS)}
            if reader in ready:
                os.read(reader, 4096)
                self._report_ended()
            # Not while a box is made: it would have to wait for the processor.
            if self._spare is None and (reader in ready or not ready):
                self._spare = _fork_spare()
            if self._line.fileno() in ready and not self._obey():
                return

    def _obey(self) -> bool:
        """Whether the client is still there."""
        fds = _receive(self._line)
        if not fds:
            return False
        if len(fds) > 1:
            self._start(fds)
        else:
            self._answer(_read_order(fds[0]))
        for fd in fds:
            os.close(fd)
        return True

    def _answer(self, order: Order) -> None:
        try:
            answer = self._orders[order["do"]](order)
        except OSError as error:
            self._line.send((error.strerror or str(error)).encode())
            return
        socket.send_fds(self._line, [_DONE], answer)
        for fd in answer:
            os.close(fd)

    def _start(self, fds: Sequence[int]) -> None:
        """Have the spare child become a box; what it is told is passed on as it came."""
        spare, self._spare = self._spare or _fork_spare(), None
        # Without one, the report is closed with the order, which tells that nothing was started.
        if spare is not None:
            pid, line = spare
            report = self._children[pid] = socket.socket(fileno=os.dup(fds[1]))
            pidfd = os.pidfd_open(pid)
            with suppress(OSError), line:
                socket.send_fds(report, [b"started"], [pidfd])
                socket.send_fds(line, [_DONE], fds)
            os.close(pidfd)

    def _report_ended(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._spare is not None and pid == self._spare[0]:
                self._spare = None
            report = self._children.pop(pid, None)
            if report is not None:
                with suppress(OSError), report:
                    report.send(b"ended" + struct.pack("i", os.waitstatus_to_exitcode(status)))


def _fork_spare() -> tuple[int, socket.socket] | None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    maker = os.getpid()
    try:
        pid = os.fork()
    except OSError:
        return None
    if pid == 0:
        try:
            _be_spare(maker, theirs)
        finally:
            os._exit(_COULD_NOT)
    theirs.close()
    return pid, ours


def _be_spare(maker: int, line: socket.socket) -> None:
    """Get ready as far as that is possible without knowing the command, and wait for it."""
    _check(_libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0))
    if os.getppid() != maker:
        return
    _close_all_but(line.fileno())
    os.setsid()
    _reset_signals()
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write(_FIRST_TO_KILL)
    try:
        _check(_libc.unshare(_NEW_NETWORK))
        names = _name_server()
    except OSError:
        names = None
    order_fd, report_fd, *fds = _receive(line)
    if names is not None:
        with socket.socket(fileno=report_fd) as report:
            socket.send_fds(report, [b"names"], [names.fileno()])
        _become(_read_order(order_fd), fds)
    os.write(fds[2], b"no network of its own could be made for it\n")


def _become(order: Order, fds: Sequence[int]) -> NoReturn:
    """Turn this child into bubblewrap, with the overlay over the workspace's own path."""
    try:
        _check(_libc.unshare(_NEW_MOUNTS))
        root = _open_true(order["root"])
        _mount(order["view"], f"/proc/self/fd/{root}", None, _MS_BIND)
        # Everything else is closed by the exec; what is meant for it gets the numbers it expects.
        numbers: list[int] = order["numbers"]
        highest = max([*numbers, *order["held"].values()]) + 1
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, highest) for fd in fds]
        held = [
            (fcntl.fcntl(_open_true(path), fcntl.F_DUPFD_CLOEXEC, highest), number)
            for path, number in order["held"].items()
        ]
        for fd, number in (*zip(given, numbers, strict=True), *held):
            os.dup2(fd, number)
        os.chdir("/")
        os.execve(order["argv"][0], order["argv"], {})  # noqa: S606
    except BaseException as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        with suppress(OSError):
            os.write(fds[2], f"no overlay could be put over the workspace: {why}\n".encode())
        os._exit(_COULD_NOT)


def _leave(*_: object) -> NoReturn:
    sys.exit()


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _name_server() -> socket.socket:
    """Bring up this network's loopback, and listen where names are asked for."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack_from("h", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)[0]
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind(_NAME_SERVER)
    return names


def _mount_memory(order: Order) -> list[int]:
    """A file system in memory; the answer is its root."""
    options = f"size={order['bytes']},nr_inodes={order['inodes']},mode=700"
    _mount("tmpfs", order["at"], "tmpfs", _MS_NOSUID | _MS_NODEV, options)
    return [os.open(order["at"], os.O_RDONLY | os.O_DIRECTORY)]


def _mount_overlay(order: Order) -> list[int]:
    """An overlay; the answer is its root. Without an upper, it only shows its layers."""
    lowers = [_open_true(path) for path in order["lowers"]]
    own = [_open_true(order[name]) for name in ("upper", "work") if order[name]]
    try:
        found = os.fstat(lowers[-1])
        if [found.st_dev, found.st_ino] != order["identity"]:
            raise OSError(0, "the maker sees another folder in the place of the workspace")
        # Names can hold commas, and options only 4,096 bytes.
        below, above = ([f"/proc/self/fd/{fd}" for fd in fds] for fds in (lowers, own))
        options = f"lowerdir={':'.join(below)},userxattr,{order['options']}".rstrip(",")
        if above:
            options += ",upperdir={},workdir={},volatile".format(*above)
        _mount("overlay", order["at"], "overlay", _MS_NOSUID | _MS_NODEV, options)
    finally:
        for fd in (*lowers, *own):
            os.close(fd)
    return [os.open(order["at"], os.O_RDONLY | os.O_DIRECTORY)]


def _unmount(order: Order) -> list[int]:
    _check(_libc.umount2(os.fsencode(order["at"]), _MNT_DETACH))
    return []


def _open_true(path: str) -> int:
    """A descriptor of exactly this path, through no link."""
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    is_link = stat.S_ISLNK(os.fstat(fd).st_mode)
    if is_link or os.readlink(f"/proc/self/fd/{fd}") != path:
        os.close(fd)
        raise OSError(0, f"{path} was replaced at this moment; try again")
    return fd


def _mount(source: str, at: str, kind: str | None, flags: int, options: str = "") -> None:
    words = (os.fsencode(source), os.fsencode(at), None if kind is None else kind.encode())
    _check(_libc.mount(*words, ctypes.c_ulong(flags), options.encode() or None))


def _close_all_but(kept: int) -> None:
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd > _LAST_STREAM and fd != kept:
            with suppress(OSError):
                os.close(fd)


def _receive(line: socket.socket) -> list[int]:
    fds = array.array("i")
    room = socket.CMSG_LEN(_MOST_DESCRIPTORS * fds.itemsize)
    _, gifts, _, _ = line.recvmsg(64, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in gifts:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return list(fds)


def _read_order(fd: int) -> Order:
    with open(fd, "rb", closefd=False) as file:
        return json.loads(file.read())


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _enter(line: socket.socket) -> None:
    """Enter the namespaces; the client says who is who there, which only it may do for all ids."""
    _check(_libc.unshare(_NEW_USERS | _NEW_MOUNTS))
    line.send(b"entered")
    if line.recv(64) != b"mapped":
        raise OSError(0, "no user ids could be mapped")
    # What is mounted on the machine later shows up here, and nothing that is mounted here there.
    _mount("none", "/", None, _MS_REC | _MS_SLAVE)
    if os.geteuid() == 0:
        for path in _DEVICES:
            # Programs use the device, but cannot change its file. No outer flag may be dropped.
            _mount(path, path, None, _MS_BIND)
            flags = os.statvfs(path).f_flag & (_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
            _mount("none", path, None, _MS_REMOUNT | _MS_BIND | _MS_RDONLY | flags)
    signal.signal(signal.SIGTERM, _leave)
    _check(_libc.prctl(_SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0))
    # A bubblewrap that is killed while it makes a box leaves a waiting child: it becomes ours.
    _check(_libc.prctl(_SET_REAPER, 1, 0, 0, 0))


def main(line_fd: int) -> None:
    with socket.socket(fileno=line_fd) as line:
        try:
            _enter(line)
        except OSError as error:
            line.send((error.strerror or str(error)).encode())
            return
        try:
            line.send(b"ready")
            _Orders(line).serve()
        finally:
            _end_all()


def _end_all() -> None:
    """Kill every child, and whoever comes to us by that, until there is none."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(ChildProcessError):
        while True:
            for pid in _children():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> Iterator[int]:
    own = os.getpid()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            if int(file.read().rpartition(b")")[2].split()[1]) == own:
                yield int(name)


if __name__ == "__main__":
    main(int(sys.argv[1]))
