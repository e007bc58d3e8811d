module erigon
