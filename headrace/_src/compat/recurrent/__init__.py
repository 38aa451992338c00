"""Recurrent networks of 1.x: `tf.compat.v1.nn.rnn_cell`, `dynamic_rnn`, `static_rnn` and their like."""
