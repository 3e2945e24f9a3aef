// Package freeport finds free loopback ports for servers that cannot listen on port 0.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The range lies below the ephemeral ports (from 32768 on Linux), so the kernel does not assign the
// port to another process.
const (
	first = 15000
	last  = 31999
)

const tries = 100

// Find returns a port of 127.0.0.1 on which no process listens.
func Find() (int, error) {
	var err error
	for range tries {
		port := first + rand.IntN(last-first+1)
		var l net.Listener
		if l, err = net.Listen("tcp", Address(port)); err == nil {
			return port, l.Close()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return 0, err
}

// Address returns the loopback address of a port.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
