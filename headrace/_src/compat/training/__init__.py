"""Training in 1.x: optimizers, learning rates, moving averages, losses and metrics."""
