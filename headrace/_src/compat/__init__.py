"""What TensorFlow 1.x programs use: sessions, variable scopes, collections, and functions with their 1.x signatures."""
