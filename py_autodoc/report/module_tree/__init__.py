"""The tree of modules, and containment of blocks."""
