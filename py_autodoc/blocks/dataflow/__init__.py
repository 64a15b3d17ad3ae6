"""Dataflow of one graph for the recognisers: producers, consumers, operator queries, matrix products."""
