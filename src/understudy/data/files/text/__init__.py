"""Text files: their dialect and encoding, read cell by cell and written in the same form."""
