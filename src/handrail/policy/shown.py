"""How much of a result a model is shown. Whoever looks at results looks at least at that."""

MOST_SHOWN_CHARS = 60_000


def shown_to_model(text: str) -> str:
    """All of a text or, where it is long, its beginning and its end."""
    if len(text) <= MOST_SHOWN_CHARS:
        return text
    half = MOST_SHOWN_CHARS // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}"
