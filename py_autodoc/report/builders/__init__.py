"""The fields of the report, each made from an analysis."""
