"""Lists of tensors as variant tensors."""
