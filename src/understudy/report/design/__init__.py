"""One look for every page: colours by number, one stylesheet, one script, templates that escape what they show."""
