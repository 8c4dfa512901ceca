"""Constraints held: as zeros of the field, by working columns out, and in the records themselves."""
