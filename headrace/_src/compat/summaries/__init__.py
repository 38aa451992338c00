"""`tf.compat.v1.summary`: operations that make summaries, and files of events."""
