"""What column types are made of: checks of fields, codecs, edges, noisy counts, and what a draft sees."""
