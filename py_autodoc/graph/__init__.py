"""From a file to a frozen graph with ids, types and sizes. Nothing above touches ONNX protobufs."""
