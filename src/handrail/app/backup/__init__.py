"""Backups of everything a server keeps, and restores from them."""
