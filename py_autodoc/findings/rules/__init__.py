"""One rule per file; see ``py_autodoc.findings.registry``."""
