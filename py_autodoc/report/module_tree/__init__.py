"""The tree of modules, and which block lies in which."""
