package indexer
