"""What is measured on this machine, by ONNX Runtime."""
