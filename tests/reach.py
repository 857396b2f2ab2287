"""The program that many tests run: which nodes of a graph reach which."""

REACH = """
.decl edge(from: number, to: number)
.input edge
.decl path(from: number, to: number)
path(x, y) :- edge(x, y).
path(x, y) :- path(x, z), edge(z, y).
.output path
"""
