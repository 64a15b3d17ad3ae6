"""Repeats: isomorphic parts of a graph in canonical form."""
