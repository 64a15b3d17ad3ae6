"""Analyses in child processes: isolated, bounded, cancellable, cached."""
