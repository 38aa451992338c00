"""`tf.compat.v1.distributions`: the probability distributions of 1.x, with samples, densities and divergences."""
