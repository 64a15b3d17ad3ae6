"""One rule a file; see ``py_autodoc.findings.registry``."""
