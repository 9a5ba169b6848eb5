"""Prints one line for `make run` if memories are found by their words only."""

from handrail.app.settings import load_settings
from handrail.knowledge.minilm import find_weights

if find_weights(load_settings().memory_weights).folder is None:
    print("Memories are recalled by their words. `make memory` adds recall by meaning.")
