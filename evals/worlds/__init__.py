"""Ten simulated worlds in which prefetching pays or doesn't, over the real scheduler, pool and broker."""
