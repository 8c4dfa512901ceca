"""Known settings, as data."""
