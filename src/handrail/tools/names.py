"""The names of the tools that Handrail ships."""

from enum import StrEnum


class ToolName(StrEnum):
    """For code that names a tool; a tool from a package or a file is named by its text."""

    READ_FILE = "read_file"
    WRITE_FILE = "write_file"
    EDIT_FILE = "edit_file"
    MOVE_FILE = "move_file"
    DELETE_FILE = "delete_file"
    LIST_DIRECTORY = "list_directory"
    SEARCH_CODE = "search_code"
    EXECUTE_COMMAND = "execute_command"
    RUN_BASH = "run_bash"
    GIT = "git"
    APPLY_DRAFT = "apply_draft"
    DISCARD_DRAFT = "discard_draft"
    SHOW_DRAFT = "show_draft"
    MEMORY_STORE = "memory_store"
    MEMORY_RECALL = "memory_recall"
    MEMORY_FORGET = "memory_forget"
    SKILL = "skill"
    HTTP_REQUEST = "http_request"
    CONFIG = "config"
    SELF_INFO = "self_info"
