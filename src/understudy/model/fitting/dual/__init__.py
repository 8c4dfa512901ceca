"""The quadratic programme over clique tables, by its dual: cells priced, answered and summed in one pass."""
