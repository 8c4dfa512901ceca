"""How close synthetic records come to real ones, system by system: `python -m benchmarks.accuracy`."""
