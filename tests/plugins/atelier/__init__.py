"""What a stranger's package may hold: a mechanism, a column type and a source, by Understudy's public names alone.

The tests pack this folder as a wheel of another name's, and copy its files into the house, in turn.
"""
