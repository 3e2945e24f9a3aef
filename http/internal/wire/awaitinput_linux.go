package wire

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// AwaitInput blocks until input arrives or the connection ends. It waits below TLS, because a
// blocked TLS Read grows the goroutine's stack to 4 KiB. Bytes buffered by TLS do not count as
// input.
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

func hasInput(fd uintptr) bool {
	var b [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err != syscall.EINTR {
			return err != syscall.EAGAIN
		}
	}
}

// closedByClient reports whether the client has closed its sending side. Earlier input may still be
// unread.
func (c *Conn) closedByClient() bool {
	raw, ok := c.raw.(syscall.Conn)
	if !ok {
		return false
	}
	input, err := raw.SyscallConn()
	if err != nil {
		return false
	}
	events := []unix.PollFd{{Events: unix.POLLRDHUP}}
	err = input.Control(func(fd uintptr) {
		events[0].Fd = int32(fd)
		if _, err := unix.Poll(events, 0); err != nil { // interrupted
			events[0].Revents = 0
		}
	})
	return err != nil || events[0].Revents != 0
}
