"""What agents keep: memories, and the skills they can learn."""
