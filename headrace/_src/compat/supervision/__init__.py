"""`tf.compat.v1.train.Supervisor`: how 1.x trained before monitored sessions."""
