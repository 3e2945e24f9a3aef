package wire

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

// fakeConn is a connection that records whether it is closed.
type fakeConn struct {
	net.Conn
	closed bool
}

func (s *fakeConn) Close() error { s.closed = true; return nil }

// TestEviction: which connections are evicted for new ones. A letter is a client, with a number for
// each connection; in upper case it has sent a whole request and is idle.
func TestEviction(t *testing.T) {
	addresses := map[byte]string{'a': "192.0.2.1", 'b': "192.0.2.2", 'l': "127.0.0.1", 's': "2001:db8::1", 't': "2001:db8::2"}
	for _, test := range []struct {
		name        string
		limit, each int
		come        string // in this order
		stay        string // those left, in this order
	}{
		{"room for all", 10, 9, "a1 a2 b1 l1", "a1 a2 b1 l1"},
		{"the oldest new connection goes", 5, 9, "a1 b1 a2 b2 a3 b3 a4", "a2 b2 a3 b3 a4"},
		{"one that has sent a request stays", 5, 9, "A1 b1 A2 b2 b3 b4 b5", "A1 A2 b3 b4 b5"},
		{"an idle one goes, if no other can", 5, 9, "A1 A2 B1 B2 A3 a4", "A2 B1 B2 A3 a4"},
		{"one address has its share", 20, 3, "a1 a2 a3 b1 a4 b2 a5", "a3 b1 a4 b2 a5"},
		{"and no more than that", 20, 3, "A1 A2 A3 b1 a4 b2", "A1 A2 A3 b1 b2"},
		{"a network of IPv6 is one address", 20, 2, "s1 t1 s2 t2", "s2 t2"},
		{"this machine has no share", 20, 2, "l1 l2 l3 L4 L5 l6", "l1 l2 l3 L4 L5 l6"},
		{"a reserve is for this machine", 8, 9, "a1 a2 a3 a4 a5 a6 a7 l1 l2", "a2 a3 a4 a5 a6 a7 l1 l2"},
		{"and for nobody else", 8, 9, "a1 a2 a3 a4 a5 a6 a7 a8 b1", "a3 a4 a5 a6 a7 a8 b1"},
	} {
		r := New(Options{MaxConnections: test.limit, MaxPerAddress: test.each})
		all := map[string]*fakeConn{}
		var names []string
		for name := range strings.FieldsSeq(test.come) {
			letter := name[0] | 0x20
			raw := &fakeConn{}
			c := &Conn{Conn: raw, raw: raw, all: r, entry: newConnEntry(&net.TCPAddr{IP: net.ParseIP(addresses[letter]), Port: 1})}
			names, all[name] = append(names, name), raw
			if !r.add(c) {
				raw.closed = true
			} else if name[0] != letter {
				r.markRequestSeen(c, false)
				c.phase = phaseIdle
			}
		}
		var stay []string
		for _, name := range names {
			if !all[name].closed {
				stay = append(stay, name)
			}
		}
		if got := strings.Join(stay, " "); got != test.stay {
			t.Errorf("%s: %s stay, want %s", test.name, got, test.stay)
		}
		if open := r.Stats().Open; open != len(stay) {
			t.Errorf("%s: %d are counted, %d are open", test.name, open, len(stay))
		}
	}
}

// TestAddressesAreForgotten: an address without connections takes no memory.
func TestAddressesAreForgotten(t *testing.T) {
	r := New(Options{MaxConnections: 1000, MaxPerAddress: 10})
	for n := range 100 {
		c := &Conn{raw: &fakeConn{}, entry: newConnEntry(&net.TCPAddr{IP: net.ParseIP(fmt.Sprintf("192.0.2.%d", n))})}
		if !r.add(c) {
			t.Fatal("no room")
		}
		r.remove(c)
		r.remove(c)
	}
	if s := r.Stats(); s.Open != 0 || s.New != 0 || len(r.byAddress) != 0 {
		t.Errorf("%d, %d, %d are left", s.Open, s.New, len(r.byAddress))
	}
}

// TestNewConnsAmongAnonymous: anonymous clients that send a request and hold their connections
// leave new connections time for a handshake, however many come.
func TestNewConnsAmongAnonymous(t *testing.T) {
	const limit = 128
	r := New(Options{MaxConnections: limit, MaxPerAddress: limit})
	come := func(address string) *fakeConn {
		raw := &fakeConn{}
		c := &Conn{Conn: raw, raw: raw, all: r, entry: newConnEntry(&net.TCPAddr{IP: net.ParseIP(address), Port: 1})}
		if !r.add(c) {
			t.Fatal("turned away")
		}
		if address != "192.0.2.9" {
			r.markRequestSeen(c, false)
			c.phase = phaseIdle
		}
		return raw
	}
	for range limit {
		come("192.0.2.1")
	}
	honest := come("192.0.2.9")
	for range 10 {
		come("192.0.2.9") // silent ones
	}
	for range 10 * limit {
		come("192.0.2.2")
	}
	if honest.closed {
		t.Error("a new connection has made room for anonymous ones that are idle")
	}
}

// TestLargeHeadEviction: anonymous clients with large heads do not block those of others.
func TestLargeHeadEviction(t *testing.T) {
	r := New(Options{MaxConnections: 2 * maxLargeHeads, MaxPerAddress: 2 * maxLargeHeads})
	var all []*fakeConn
	come := func() *Conn {
		raw := &fakeConn{}
		c := &Conn{Conn: raw, raw: raw, all: r, entry: newConnEntry(&net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 1})}
		if all = append(all, raw); !r.add(c) || !r.addLargeHead(c) {
			t.Fatal("turned away")
		}
		return c
	}
	known := come()
	known.authenticated.Store(true)
	for range maxLargeHeads + 1 {
		come()
	}
	if all[0].closed || !all[1].closed || !all[2].closed || all[3].closed {
		t.Error("it is not the oldest anonymous ones that make room")
	}
	r.removeLargeHead(known)
	if r.largeHeads.Len() != maxLargeHeads-1 {
		t.Errorf("%d are counted", r.largeHeads.Len())
	}
}
