"""The tools Handrail ships; they enter by the same door as everybody's."""
