"""The data service: a dispatcher, workers, and who reads from them."""
