"""The formats of a result, one per module. Names of files and nodes are inert in each."""
