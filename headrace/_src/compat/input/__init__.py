"""Input of 1.x: readers of files, producers, batches, and the threads that fill their queues."""
