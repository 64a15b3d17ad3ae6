"""Architecture classification: layer inventory, output shapes, network family."""
