package daemon

// openFileLimit returns how many files the process may open. Windows sets no limit below its memory.
func openFileLimit() int { return 1 << 24 }
