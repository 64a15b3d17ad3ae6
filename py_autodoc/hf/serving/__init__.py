"""Run a file with embedded configuration and processor as a transformers pipeline on ONNX Runtime."""
