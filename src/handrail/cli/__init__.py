"""The `handrail` command: one file per command or group of commands."""
