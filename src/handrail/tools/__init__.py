"""The capabilities: one file, one tool. Tools touch the world only through hands."""
