"""What the tools that run programs have in common: what is seen before, and told after."""
