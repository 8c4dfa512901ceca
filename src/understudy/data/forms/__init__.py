"""The form of a table: which kind it is, in which order its columns stand, and of which type each is declared."""
