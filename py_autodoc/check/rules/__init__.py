"""The rules. Each module makes rules of a part of the policy, which it checks before a model is read."""
