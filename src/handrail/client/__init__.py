"""The user's machine: it listens, judges once more, executes and reports."""
