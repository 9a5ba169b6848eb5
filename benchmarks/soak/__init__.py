"""A mixed load with kills, and the books of it: what was asked, decided, done and told."""
