"""From a file to a release, in the paper's eight steps."""
