"""What a model does, of which kind it is and what goes in and out, in words: from labels and structure."""
