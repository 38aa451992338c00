"""Elements and pipelines in files: caches, snapshots, saved datasets, messages."""
