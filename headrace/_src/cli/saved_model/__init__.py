"""`saved_model_cli`: looking at SavedModels, and calling them, from the command line."""
