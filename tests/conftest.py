"""Shared by all tests: this folder is on the path, so that test helpers can be imported from anywhere in it."""
