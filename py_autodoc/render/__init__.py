"""Renderings of a report: text, documents, images and tables."""
