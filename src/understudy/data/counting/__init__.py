"""Coded records to exact counts: the kernel and its plan, the bytes of a value, and which records of a unit count."""
