"""The web, asked from the server: only at addresses that were checked."""
