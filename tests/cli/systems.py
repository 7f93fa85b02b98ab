"""Systems of our own that the command line evaluates."""


def adds(text: str) -> str:
    """Adds the two numbers of a question like "2 + 3", but cannot count above 15."""
    a, b = (int(part) for part in text.split("+"))
    return str(a + b if a + b < 15 else 0)


def breaks(_text: str) -> str:
    raise ConnectionError("the backend is down")
