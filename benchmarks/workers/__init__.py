"""The processes that a measurement is made of."""
