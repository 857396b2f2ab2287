"""Recursion for the best: shortest paths in batch beside Dijkstra elsewhere, and changes of single edges."""
