"""What an op is, the registry, and the one way to apply it."""
