"""`tf.compat.v1.layers`: layers of 1.x, whose variables are found by the names of scopes."""
