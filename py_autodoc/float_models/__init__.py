"""Float models in the form that quantization needs: stored weights, a recent opset."""

from py_autodoc.float_models.constant_weights import PRODUCTS, lift_weights
from py_autodoc.float_models.newer_opset import PER_CHANNEL, opset_of, raise_opset

__all__ = ["PER_CHANNEL", "PRODUCTS", "lift_weights", "opset_of", "raise_opset"]
