"""Random numbers, bit-equal to TensorFlow's."""
