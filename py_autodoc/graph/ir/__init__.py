"""The frozen graph, and what its builders share: diagnostics, safe names, the exporter's records."""
