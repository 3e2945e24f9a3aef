package freeport

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestFind: a port is free, and not in the range that the system assigns.
func TestFind(t *testing.T) {
	t.Parallel()
	lowest := 32768
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil { // Linux only
		if lowest, err = strconv.Atoi(strings.Fields(string(text))[0]); err != nil {
			t.Fatal(err)
		}
	}
	if last >= lowest {
		t.Errorf("the system gives out ports from %d, of which some are below %d", lowest, last)
	}
	for range 20 {
		port, err := Find()
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
