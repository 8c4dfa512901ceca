"""The forms in which cells are written: dates, times, numbers and truths that are not in the plain grammar.

A format reads each distinct text by itself, and writes values back as texts of the same form.
"""
