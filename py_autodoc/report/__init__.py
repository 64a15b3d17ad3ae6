"""The report: one wire model and the builders that fill it."""
