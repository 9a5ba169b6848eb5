"""The nouns: frozen values, ids, the state table and the ports. Standard library only, no I/O."""
