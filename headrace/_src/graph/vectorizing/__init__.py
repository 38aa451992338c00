"""From the graph of one element to operations on a whole batch."""
