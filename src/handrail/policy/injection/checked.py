"""Which results are looked at before a model reads them, and what is said of where they are from.

All but those of a few tools of our own, which bring back what this person has set here, or what
Handrail itself says. What an agent has remembered may have been put into its mouth.
"""

from typing import cast

from handrail.core.tool import JsonObject
from handrail.core.visible import cut, visible
from handrail.policy.redaction import mask_text

# By their whole names: what an extension brings is checked, whatever it is called.
UNCHECKED = frozenset(
    {
        *("memory_store", "memory_forget"),
        *("skill", "self_info", "config", "routine"),
    }
)
# The field of a result that says what made it untrusted, where that was known before.
UNTRUSTED = "untrusted"
# So begins the line in which Handrail itself says what a command could not see.
KEPT_FROM_IT = "[kept from it: "
# What these bring back is full of the workspace's own names.
_NAMING = frozenset({"list_directory", "search_code", "git", "execute_command", "run_bash"})
# Parameters that say what a call is about, the best one first.
_SUBJECTS = ("url", "path", "command", "pattern", "query", "action")
_SHOWN_CHARS = 200


def needs_injection_check(tool_name: str) -> bool:
    """Whether the results of this tool are scanned, and fenced before a model reads them."""
    return tool_name not in UNCHECKED


def tells_names(tool_name: str) -> bool:
    """Whether a path or an argument among its results is most likely the person's own."""
    return tool_name in _NAMING


def origin_of(tool_name: str, tool_params: JsonObject) -> str:
    """Where a result came from, in one line: `http_request https://example.org/notes`."""
    words = [tool_name]
    for subject in _SUBJECTS:
        if isinstance(value := tool_params.get(subject), str):
            words.append(value)
            break
    if isinstance(args := tool_params.get("args"), list):
        words += [word for word in cast(list[object], args) if isinstance(word, str)]
    # A few are enough to be cut from, and what is cut holds no half of a secret.
    return cut(visible(mask_text(" ".join(words[:50])[: 4 * _SHOWN_CHARS])), _SHOWN_CHARS)
