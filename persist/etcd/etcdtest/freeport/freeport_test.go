package freeport

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
)

func TestFind(t *testing.T) {
	t.Parallel()
	lowest := 32768
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil { // Linux only
		if lowest, err = strconv.Atoi(strings.Fields(string(text))[0]); err != nil {
			t.Fatal(err)
		}
	}
	if last >= lowest {
		t.Errorf("ephemeral ports start at %d, below the last port %d", lowest, last)
	}
	for range 20 {
		port := must.Get(Find())(t)
		l := must.Get(net.Listen("tcp", Address(port)))(t)
		defer l.Close()
	}
}
