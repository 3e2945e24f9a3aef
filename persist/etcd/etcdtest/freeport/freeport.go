// Package freeport finds ports of loopback for servers in processes of their own, which cannot say which port the system gave them.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The ports that are given out. They lie below those that the system gives to clients and to listeners on port 0 (from 32768 on Linux),
// so that nobody comes first by chance, neither before the server has started nor while it is down and will start again.
const (
	first = 15000
	last  = 31999
)

// tries is how many ports may be taken before there is an error.
const tries = 100

// Find is a port of 127.0.0.1 that nobody listens at now.
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

// Address is that of a port of loopback.
func Address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
