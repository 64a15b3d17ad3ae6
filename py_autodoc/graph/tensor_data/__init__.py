"""Values of stored tensors: bytes, decoding, statistics, distributions and arrays."""
