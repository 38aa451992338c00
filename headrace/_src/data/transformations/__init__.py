"""What is done to datasets: the methods of `Dataset` that make another one of it or sum it up, one file each."""
