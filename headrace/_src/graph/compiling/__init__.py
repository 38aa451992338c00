"""From a graph to an XLA program: blocks, lowering, the queue and its process, programs."""
