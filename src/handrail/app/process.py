"""The first step of every Handrail process, called before anything is opened."""

from handrail.executors.processes.descriptors import keep_from_children


def begin_process() -> None:
    """Mark inherited file descriptors close-on-exec."""
    keep_from_children()
