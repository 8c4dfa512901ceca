"""Where private records lie and how a run reaches them: a file a kind of source, and `registry`, which lists them."""
