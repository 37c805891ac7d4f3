"""Makes any Python string one that UTF-8 can carry."""


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
