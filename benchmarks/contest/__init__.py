"""The paper's results section, reproduced: `python -m benchmarks.contest` (or `make contest`)."""
