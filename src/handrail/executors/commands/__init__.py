"""Commands of one call: looked at, given what they need, started and followed to their end."""
