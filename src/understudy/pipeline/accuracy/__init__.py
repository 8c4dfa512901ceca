"""What a release says of its own accuracy: errors that were asked for, and answers with intervals."""
