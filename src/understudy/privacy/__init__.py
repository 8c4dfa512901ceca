"""The only room that may touch private counts."""
