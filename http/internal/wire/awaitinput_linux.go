package wire

import "syscall"

// AwaitInput waits until the client has sent something, or has gone. It waits beneath TLS, of which a Read takes so many frames that
// the stack of its goroutine doubles to 4 KiB, which a connection would hold for as long as it waits. What TLS has
// read ahead does not count.
func (c *Conn) AwaitInput() error {
	raw, ok := c.raw.(syscall.Conn)
	if !ok || len(c.unread) > 0 {
		return nil
	}
	input, err := raw.SyscallConn()
	if err != nil {
		return err
	}
	return input.Read(hasInput)
}

// hasInput tells whether a read of a socket would not wait. It leaves the input where it is.
func hasInput(fd uintptr) bool {
	var b [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return err != syscall.EAGAIN
		}
	}
}
