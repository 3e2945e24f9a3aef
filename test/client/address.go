package client

import (
	"net"
	"testing"
)

// OwnAddress is an address of this machine that is not a loopback one, which no endpoint may have. The test fails on a
// machine without any.
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
