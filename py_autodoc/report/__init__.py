"""The report: its wire model and the builders that fill it."""
