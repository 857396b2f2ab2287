"""Kernels: the only code that numba compiles. Integers in, integers out; see `layout` for the blocks they share."""
