"""Labels, texts and rows: how values are written where people and the wire read them."""
