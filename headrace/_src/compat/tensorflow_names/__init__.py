"""Names of the package `tensorflow` that other packages import: the alias itself, its inner modules and messages."""
