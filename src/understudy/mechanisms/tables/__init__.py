"""Noisy tables: what measuring them costs, what they likely hold, the sums they are brought to."""
