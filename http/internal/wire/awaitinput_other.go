//go:build !linux

package wire

// AwaitInput does nothing: the Read that follows waits.
func (c *Conn) AwaitInput() error { return nil }
