"""What a model costs: MACs, FLOPs, bytes, parameters, peak activation memory."""
