"""Functions that written files take along where PyTorch has none with the meaning of ONNX.

Their source is copied, so that a written file needs nothing but PyTorch. Nothing imports this package.
"""
