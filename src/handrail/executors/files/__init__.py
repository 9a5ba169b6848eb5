"""Files of a workspace: opened beneath its root, listed, searched and written whole."""
