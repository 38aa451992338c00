"""Serving: models behind HTTP and gRPC, as TensorFlow Serving's clients expect them."""
