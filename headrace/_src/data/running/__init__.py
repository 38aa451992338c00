"""How pipelines run: stages, cursors and the choice between them, functions of elements, threads, iterators."""
