"""Run analyses in child processes: isolated, limited, cancellable and cached."""
