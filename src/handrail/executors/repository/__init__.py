"""What git keeps in a workspace, and what of it a command may see and change."""
