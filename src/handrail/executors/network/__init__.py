"""The network as a box may use it: hosts that were approved, by one proxy, and nothing else."""
