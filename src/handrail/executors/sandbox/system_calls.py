"""How each kind of processor numbers the system calls that a box asks about."""

from typing import NamedTuple


class Machine(NamedTuple):
    """`audit_name` is how the kernel names it to a filter.

    `numbers` are those of the calls that every box asks about, `changes` those by which files are
    changed without being opened for that.
    """

    audit_name: int
    numbers: dict[str, int]
    changes: dict[str, int]


# A dash stands where a machine has no such call.
_NUMBERS = """
                   x86_64  aarch64
open                    2        -
ioctl                  16       29
socket                 41      198
socketpair             53      199
clone                  56      220
fork                   57        -
vfork                  58        -
fcntl                  72       25
creat                  85        -
chmod                  90        -
fchmod                 91       52
ptrace                101      117
setpriority           141      140
sched_setparam        142      118
sched_setscheduler    144      119
sched_setaffinity     203      122
ioprio_set            251       30
sched_setattr         314      274
syslog                103      116
mknod                 133        -
uselib                134        -
vhangup               153       58
modify_ldt            154        -
pivot_root            155       41
adjtimex              159      171
chroot                161       51
acct                  163       89
settimeofday          164      170
mount                 165       40
umount2               166       39
swapon                167      224
swapoff               168      225
reboot                169      142
sethostname           170      161
setdomainname         171      162
iopl                  172        -
ioperm                173        -
init_module           175      105
delete_module         176      106
quotactl              179       60
lookup_dcookie        212       18
clock_settime         227      112
kexec_load            246      104
add_key               248      217
request_key           249      218
keyctl                250      219
openat                257       56
mknodat               259       33
fchmodat              268       53
unshare               272       97
perf_event_open       298      241
fanotify_init         300      262
prlimit64             302      261
open_by_handle_at     304      265
clock_adjtime         305      266
setns                 308      268
process_vm_readv      310      270
process_vm_writev     311      271
kcmp                  312      272
finit_module          313      273
kexec_file_load       320      294
bpf                   321      280
userfaultfd           323      282
io_uring_setup        425      425
io_uring_enter        426      426
io_uring_register     427      427
open_tree             428      428
move_mount            429      429
fsopen                430      430
fsconfig              431      431
fsmount               432      432
fspick                433      433
clone3                435      435
openat2               437      437
pidfd_getfd           438      438
process_madvise       440      440
mount_setattr         442      442
quotactl_fd           443      443
fchmodat2             452      452
open_tree_attr        467      467
"""
# What changes a file and Landlock lets pass; in boxes, mounts see to it, but for devices.
_CHANGES = """
                   x86_64  aarch64
chmod                  90        -
fchmod                 91       52
chown                  92        -
fchown                 93       55
lchown                 94        -
utime                 132        -
setxattr              188        5
lsetxattr             189        6
fsetxattr             190        7
removexattr           197       14
lremovexattr          198       15
fremovexattr          199       16
utimes                235        -
fchownat              260       54
futimesat             261        -
fchmodat              268       53
utimensat             280       88
fchmodat2             452      452
setxattrat            463      463
removexattrat         466      466
"""
_AUDIT_NAMES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def _read(table: str) -> dict[str, dict[str, int]]:
    heading, *rows = [line.split() for line in table.strip().splitlines()]
    return {
        machine: {name: int(columns[place]) for name, *columns in rows if columns[place] != "-"}
        for place, machine in enumerate(heading)
    }


MACHINES = {
    machine: Machine(_AUDIT_NAMES[machine], numbers, _read(_CHANGES)[machine])
    for machine, numbers in _read(_NUMBERS).items()
}
