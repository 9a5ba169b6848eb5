"""Handrail."""
