"""From the protobuf to the frozen graph: drafts, attributes, checks, scopes."""
