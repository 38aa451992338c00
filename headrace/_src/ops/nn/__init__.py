"""Activations, losses, normalisation, embeddings and what else networks are made of."""
