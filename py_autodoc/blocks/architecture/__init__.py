"""The kind of network: the layers counted, the signs at its outputs, the classification."""
