"""The rules. Each module validates a part of the policy before a model is read, and creates its rules."""
