module indexer
