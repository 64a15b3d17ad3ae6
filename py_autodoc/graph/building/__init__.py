"""Builds the frozen graph from the protobuf: drafts, attributes, checks and scopes."""
