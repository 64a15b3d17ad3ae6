"""Repeats: isomorphic parts of a graph, found in its canonical form."""
