"""What plugins use of the package dict-toolbox, for where it is not installed."""
