"""Output formats of a result, one per module. Names of files and nodes are escaped in each."""
