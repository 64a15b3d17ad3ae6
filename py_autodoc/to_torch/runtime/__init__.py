"""Functions included in generated files where PyTorch has no equivalent of an ONNX operator.

Their source is copied, so that a generated file needs only PyTorch. This package is never imported.
"""
