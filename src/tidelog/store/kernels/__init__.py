"""Kernels: the only code that numba compiles. Integers in, integers out; `blocks.py` is what they share with Python."""
