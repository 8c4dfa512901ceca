"""AIM: rounds of choosing and measuring one marginal each, for a workload that a person names."""
