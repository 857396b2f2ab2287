"""Batch evaluation measured: every workload that is there, several times, beside peers that pip installs."""
