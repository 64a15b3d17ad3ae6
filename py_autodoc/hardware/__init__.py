"""How long a device may take for a model: profiles of devices, kernels of a graph, the estimate."""
