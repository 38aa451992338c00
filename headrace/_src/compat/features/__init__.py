"""`tf.feature_column`: descriptions of columns of data, and what makes tensors of them."""
