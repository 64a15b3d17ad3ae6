"""From a file to a protobuf without its weights: functions inlined, names repaired, facts kept."""
