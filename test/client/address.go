package client

import (
	"net"
	"testing"
)

// OwnAddress returns a non-loopback address of this machine, because endpoints must not have
// loopback addresses. If there is none, it fails the test.
func OwnAddress(t testing.TB) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	t.Fatal("this machine has none but loopback addresses, and the test needs another")
	return ""
}
