"""The implementation, in layers; nothing here is public."""
