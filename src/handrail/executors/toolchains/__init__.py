"""Toolchains: programs that a person has installed beside the system's, in folders of their own."""
