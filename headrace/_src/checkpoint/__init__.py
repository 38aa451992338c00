"""Saving and restoring trackable objects, in the files that TensorFlow writes."""
