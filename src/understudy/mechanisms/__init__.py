"""What to measure: one selection strategy a file."""
