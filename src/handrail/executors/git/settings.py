"""Settings for git, as names and values."""

Pairs = list[tuple[str, str]]


def as_variables(settings: Pairs) -> Pairs:
    """The environment variables by which git takes settings; they override those of files."""
    variables = [("GIT_CONFIG_COUNT", str(len(settings)))]
    for number, (name, value) in enumerate(settings):
        variables += [(f"GIT_CONFIG_KEY_{number}", name), (f"GIT_CONFIG_VALUE_{number}", value)]
    return variables
