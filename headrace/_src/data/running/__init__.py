"""How pipelines run: stages, cursors, functions of elements, threads, iterators."""
