"""The words spoken between server, clients, console and editor."""

# Client and server may differ by one minor.
WIRE_VERSION = "1.0"
