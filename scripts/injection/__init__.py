"""How the weights of `scan` are learned."""
