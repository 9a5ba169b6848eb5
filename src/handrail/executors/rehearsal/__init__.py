"""Rehearsals: commands run over an overlay of the workspace, so that nothing they do is real."""
