"""Policy as data: rules are rows of TOML files, each with the examples that prove it."""
