"""Run a file that carries its configuration and processor: transformers pipelines on ONNX Runtime."""
