"""Whether commands are kept in a box here and, where they are not, what that means, what helps."""

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.isolation import prove_here
from handrail.app.rehearsals import try_rehearsals
from handrail.executors.rehearsal.conditions import why_not_here
from handrail.executors.sandbox.probe import find_programs
from handrail.executors.sandbox.seccomp import is_known

# A kernel without such a setting does not have what it forbids.
_SETTINGS = Path("/proc/sys")
_FORBIDDING = {
    "kernel/unprivileged_userns_clone": ("0", "1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
    "user/max_user_namespaces": ("0", "15000"),
}


def check_box(_: Patient) -> Finding:
    programs = find_programs()
    isolation = prove_here(programs)
    walls = ", ".join(isolation.walls)
    if not isolation.holds:
        words = f"no sandbox works here ({isolation.why_not}): every command is HIGH and asks you"
        if walls:
            words += (
                f"; approved commands are limited to the workspace as far as these can: {walls}"
            )
        else:
            words += ", and approved commands run with all your permissions"
        return Finding("box", Health.WARN, words, _remedy(has_bubblewrap=programs is not None))
    if isolation.why_not is not None:
        return Finding("box", Health.NOTE, f"tested: {walls}; {isolation.why_not}")
    return Finding("box", Health.FINE, f"commands cannot leave it; tested: {walls}")


def check_rehearsals(patient: Patient) -> Finding:
    if not prove_here(find_programs()).holds:
        return _not_rehearsed("the sandbox does not work")
    proof = asyncio.run(try_rehearsals())
    if not proof.holds:
        return _not_rehearsed(proof.why_not or "")
    if (why := why_not_here(os.path.realpath(patient.workspace))) is not None:
        return _not_rehearsed(f"they cannot be rehearsed in this folder: {why}")
    words = "commands are tried first where they can change nothing; tested: overlay"
    return Finding("rehearsals", Health.FINE, words)


def _not_rehearsed(why: str) -> Finding:
    return Finding("rehearsals", Health.NOTE, f"you are asked before commands run: {why}")


def _remedy(*, has_bubblewrap: bool) -> str:
    if sys.platform != "linux":
        return "run Handrail on Linux, for example in a virtual machine"
    if not is_known():
        return "run Handrail on a machine with x86_64 or aarch64"
    steps = [*_install(has_bubblewrap=has_bubblewrap), *_allow()]
    if steps:
        return "; ".join([*steps, "then restart the client"])
    return (
        "in a container, let its host allow user namespaces; elsewhere,"
        " `bwrap --unshare-all --ro-bind / / true` shows the problem"
    )


def _install(*, has_bubblewrap: bool) -> Iterator[str]:
    if not has_bubblewrap:
        yield (
            "install bubblewrap: `sudo apt install bubblewrap`, `sudo dnf install bubblewrap`, or"
            " with the package manager of your system"
        )


def _allow() -> Iterator[str]:
    """What switches user namespaces on, for each setting by which they are off."""
    for name, (forbids, allows) in _FORBIDDING.items():
        try:
            told = _SETTINGS.joinpath(name).read_text().strip()
        except OSError:
            continue
        if told == forbids:
            yield f"allow user namespaces: `sudo sysctl {name.replace('/', '.')}={allows}`"
