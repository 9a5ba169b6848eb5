"""What every process of Handrail does first."""

from handrail.executors.descriptors import keep_from_children


def begin_process() -> None:
    """Keep what this process has inherited from all that it will start."""
    keep_from_children()
