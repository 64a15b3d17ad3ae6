"""What the graph is made of: recognised blocks, repeats, attention, the kind of architecture."""
