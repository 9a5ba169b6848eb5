"""Judging of long texts in processes of their own."""
