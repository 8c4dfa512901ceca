"""Self-contained pages for people."""
