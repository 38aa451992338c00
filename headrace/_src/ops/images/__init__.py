"""Images: decoding and encoding, colours, sizes, boxes."""
