"""Running a graph with the kernels of its ops."""
