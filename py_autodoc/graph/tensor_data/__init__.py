"""The values of stored tensors: bytes, decoding, statistics, distributions, arrays."""
