"""Risk signals: rules over what is known of a model."""
