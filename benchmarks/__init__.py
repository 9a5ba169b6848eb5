"""What Handrail promises of its speed, measured: one file per promise, ratios within one run."""
