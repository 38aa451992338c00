"""Where elements come from: tensors, numbers, files, generators, databases."""
