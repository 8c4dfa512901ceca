"""The fitted distribution: Private-PGM."""
