"""Encoding of labels, texts and rows for display and the wire format."""
