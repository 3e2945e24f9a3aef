//go:build !linux

package wire

// AwaitInput does nothing: the Read that follows waits.
func (c *Conn) AwaitInput() error { return nil }

// closedByClient returns false: the next Write notices.
func (c *Conn) closedByClient() bool { return false }
