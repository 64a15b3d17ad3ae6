"""Tasks that run a model in their own process, such as measuring or quantizing."""
