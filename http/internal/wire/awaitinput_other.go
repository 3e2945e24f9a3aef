//go:build !linux

package wire

// AwaitInput does not wait here: the Read that follows does.
func (c *Conn) AwaitInput() error { return nil }
