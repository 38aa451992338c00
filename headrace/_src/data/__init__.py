"""Input pipelines: datasets, the stages that they are made of, and iterators."""
