"""Structure recognition: blocks, repeats, attention layers and the kind of architecture."""
