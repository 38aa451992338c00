"""Making, shaping, joining, cutting, picking and rearranging tensors."""
