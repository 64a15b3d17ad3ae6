"""Loads a file into a protobuf without weights: functions inlined, names repaired, facts recorded."""
