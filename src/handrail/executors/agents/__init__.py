"""Running other people's agents and programs over a draft."""
