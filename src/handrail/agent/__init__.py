"""Our own asker: a conversation with a model that uses tools."""
