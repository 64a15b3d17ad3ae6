"""Work that runs a model, in a process of its own: measured, quantized, watched and stopped."""
