"""The kinds of names in a folder."""

from enum import StrEnum


class EntryKind(StrEnum):
    """What a name in a folder stands for. A link is a link, wherever it leads."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "other"
