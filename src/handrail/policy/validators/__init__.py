"""Validators read words and report findings. They never raise and never decide."""
