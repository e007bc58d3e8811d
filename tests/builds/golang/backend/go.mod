module backend
