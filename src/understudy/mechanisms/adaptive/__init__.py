"""A mechanism that decides, from the budget and from what it has learned so far, how many marginals to measure."""
