"""The grammar of bash, as tree-sitter reads it."""

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_BASH = Language(tree_sitter_bash.language())


def parse(source: bytes) -> Node:
    """The root of the tree. What cannot be read is in there too, as errors; this never fails."""
    # A parser each time: it costs some microseconds, and one parser cannot serve two threads.
    return Parser(_BASH).parse(source).root_node
