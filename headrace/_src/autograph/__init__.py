"""AutoGraph: Python source to functional control flow."""
