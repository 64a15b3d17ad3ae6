"""Recognisers of layers: convolution, normalization, dense, embedding, recurrent, heads."""
