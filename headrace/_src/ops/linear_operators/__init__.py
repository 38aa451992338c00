"""`tf.linalg.LinearOperator` and its kinds."""
