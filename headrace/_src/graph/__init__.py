"""Graphs: what a traced function becomes, and how it runs."""
