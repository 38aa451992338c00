"""`tf.estimator`: models as functions of features and labels, with training, evaluation, prediction and export."""
