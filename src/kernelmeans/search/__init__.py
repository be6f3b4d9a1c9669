"""Search for the number of clusters and the kernel."""
