"""The models we can ask, each behind the same socket."""
