"""The report as a document: building, streaming, validation, notebook display, and weights."""
