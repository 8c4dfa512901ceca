"""Records whose marginals match a field's: the paper's "Synthetic data" and "Synthetic column"."""
