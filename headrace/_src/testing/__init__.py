"""What tests of programs use: `tf.test`."""
