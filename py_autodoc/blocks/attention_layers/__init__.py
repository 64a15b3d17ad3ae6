"""Recognisers of attention: its operands, its mask, where its inputs come from."""
