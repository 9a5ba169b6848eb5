"""Drafts: what a session changes is kept in layers over the workspace, which only it sees."""
