// Package freeport finds ports of loopback for servers in other processes, which cannot report the
// port that the system gave them.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The range lies below the ports that the system assigns to clients and to port 0 (from 32768 on
// Linux), so no other process takes a port by chance before its server starts or while it restarts.
const (
	first = 15000
	last  = 31999
)

// tries is the number of attempts to find a free port.
const tries = 100

// Find returns a port of 127.0.0.1 without a listener.
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
