"""`tf.experimental.numpy`."""
