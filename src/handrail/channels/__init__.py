"""Where people are asked."""
