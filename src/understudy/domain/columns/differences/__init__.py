"""Columns that are coded by how far they lie after another: their codes, and the two cells that make one."""
