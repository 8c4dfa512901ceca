"""What matters to a person: sets of columns and weights, shared by the mechanisms that spend where they are told."""
