"""The graph itself: operations, symbolic tensors, variables, and the order in which things happen."""
