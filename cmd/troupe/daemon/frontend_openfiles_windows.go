package daemon

// openFileLimit returns a high constant, because Windows has no such limit.
func openFileLimit() int { return 1 << 24 }
