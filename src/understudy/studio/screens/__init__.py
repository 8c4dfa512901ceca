"""The studio's screens: one file each, from choosing a table to the ledger."""
