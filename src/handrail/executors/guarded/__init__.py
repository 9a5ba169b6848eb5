"""Which files of a workspace no command may see or change, by whatever name."""
