"""Matrices: products, decompositions, equations, diagonals, norms."""
