"""Processes of ours: started with nothing inherited, piped, watched and ended."""
