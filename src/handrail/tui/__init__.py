"""The terminal's views: what waits, what runs, what was."""
