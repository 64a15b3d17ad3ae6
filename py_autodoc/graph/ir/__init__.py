"""The frozen graph and helpers of its builders: diagnostics, safe names, exporter records."""
