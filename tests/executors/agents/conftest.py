"""Drafts for programs to run over."""

from tests.executors.drafts.conftest import box, executor_of_drafts, open_drafts

__all__ = ["box", "executor_of_drafts", "open_drafts"]
