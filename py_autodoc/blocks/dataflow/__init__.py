"""One graph as the recognisers read it: who feeds whom, operator queries, matrix products."""
