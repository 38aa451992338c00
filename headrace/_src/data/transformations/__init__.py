"""The methods of `Dataset` that make a dataset of another one, one file each."""
