"""A report as something people and spreadsheets read."""
