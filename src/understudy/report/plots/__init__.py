"""Pictures as SVG with names for whoever cannot see them: colours come from the page's stylesheet, by class."""
