"""What everything stands on: dtypes, shapes, specs, nest, errors, context and tensors."""
