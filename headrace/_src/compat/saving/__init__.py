"""Checkpoints, meta graphs and SavedModels of 1.x graphs."""
