"""What a calibrated tree answers: marginals, events, likelihoods; and in which order it generates columns."""
