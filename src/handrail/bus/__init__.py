"""The doorbell: rings a topic and carries no data."""
