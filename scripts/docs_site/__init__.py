"""The documentation as a site: generated pages, and pages from outside ``docs/``."""
