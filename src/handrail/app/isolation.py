"""What keeps commands in on this machine: a box, else a fence, else nothing."""

from dataclasses import replace

from handrail.core.box import Isolation, Wall
from handrail.executors.sandbox.box import Programs, Views
from handrail.executors.sandbox.fence import Fence
from handrail.executors.sandbox.fence_probe import prove_fence
from handrail.executors.sandbox.probe import prove


def prove_here(programs: Programs | None) -> Isolation:
    """What is proven. It takes a moment; a fence is tried only where no box holds."""
    isolation = prove(programs)
    return isolation if isolation.holds else replace(isolation, walls=prove_fence())


def fence_for(isolation: Isolation, views: Views, toolchains: list[str]) -> Fence | None:
    """Fences for a workspace, where they are what is proven."""
    if Wall.LANDLOCK not in isolation.walls:
        return None
    return Fence(isolation.walls, views, toolchains)
