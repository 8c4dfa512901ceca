"""Scores that a learner gives: how well its models predict, and how well they tell synthetic records from real."""
