"""The path of a call. Only this room moves an execution from state to state."""
