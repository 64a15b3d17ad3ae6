"""Builders for the fields of the report; each takes an analysis."""
