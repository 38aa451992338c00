"""Variables, lookup tables and random generators."""
