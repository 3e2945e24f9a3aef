//go:build !linux

package wire

// AwaitInput does nothing, so the Read after it waits.
func (c *Conn) AwaitInput() error { return nil }

// closedByClient cannot tell and returns false. The next Write detects a disconnect.
func (c *Conn) closedByClient() bool { return false }
