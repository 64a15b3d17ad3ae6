"""Layer recognisers: convolution, normalization, dense, embedding, recurrent and heads."""
