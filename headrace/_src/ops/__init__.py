"""Every op that is a function of arrays, one file a family, and its public function."""
