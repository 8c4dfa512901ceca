"""Engines, each anything that can `count`: records in memory, in a stream, in DuckDB, PostgreSQL or Spark."""
