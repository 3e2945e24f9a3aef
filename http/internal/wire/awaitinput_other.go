//go:build !linux

package wire

// AwaitInput does nothing, so the following Read waits instead.
func (c *Conn) AwaitInput() error { return nil }

// closedByClient always returns false, because there is no portable way to detect a disconnect. The
// next Write fails instead.
func (c *Conn) closedByClient() bool { return false }
