"""Rules of tasks, a family a file."""
