"""Rules by family: from one node of ONNX to code of PyTorch."""
