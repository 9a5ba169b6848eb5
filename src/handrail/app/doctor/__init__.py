"""doctor: what Handrail stands on, looked at and told in plain words."""
