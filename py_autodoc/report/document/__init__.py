"""The report as a document: built, streamed, validated, shown in a notebook, and asked for weights."""
