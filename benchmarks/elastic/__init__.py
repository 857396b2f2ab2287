"""Elastic evaluation measured: section 5 of paper 002 repeated on every workload that is there, and its targets."""
