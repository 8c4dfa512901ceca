"""Public tables: what they suggest to measure, and what to begin at."""
