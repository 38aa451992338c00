"""Writers of event files, which TensorBoard reads, and the functions that write summaries."""
