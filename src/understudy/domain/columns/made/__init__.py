"""Columns that are made up: keys and plausible texts, of which no cell is ever read."""
