"""The plane over HTTP: who may come in, what they may ask, and the stream of events."""
