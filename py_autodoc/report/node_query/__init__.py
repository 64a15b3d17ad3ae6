"""The query language for nodes: parser, fields, matcher."""
