"""PostgreSQL: the address of a table, one session that reads it, its types, and the table itself."""
