"""Task rules, one file per family."""
