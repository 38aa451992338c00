"""From encoded messages, lines and files to tensors, and back."""
