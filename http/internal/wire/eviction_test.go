package wire

import (
	"fmt"
	"net"
	"strings"
	"testing"
)

type fakeConn struct {
	net.Conn
	address net.TCPAddr
	closed  bool
}

func (s *fakeConn) RemoteAddr() net.Addr { return &s.address }

func (s *fakeConn) Close() error { s.closed = true; return nil }

func newFakeConn(r *Connections, address string) (*Conn, *fakeConn) {
	raw := &fakeConn{address: net.TCPAddr{IP: net.ParseIP(address), Port: 1}}
	c := newConn(raw, r)
	c.Conn = raw
	return c, raw
}

// TestEviction tests which connections are closed to admit others. A connection is named by a
// letter for its client and a number. An upper-case letter marks a connection that is idle after a
// complete request.
func TestEviction(t *testing.T) {
	addresses := map[byte]string{'l': "127.0.0.1", 's': "2001:db8::1", 't': "2001:db8::2"}
	for letter := byte('a'); letter < 'k'; letter++ {
		addresses[letter] = fmt.Sprintf("192.0.2.%d", letter)
	}
	for _, test := range []struct {
		name  string
		limit int
		come  string // connections in order of arrival
		stay  string // remaining connections, in order
	}{
		{"room for all", 10, "a1 a2 b1 l1", "a1 a2 b1 l1"},
		{"the oldest new connection goes", 5, "a1 b1 c1 d1 e1 f1 g1", "c1 d1 e1 f1 g1"},
		{"one that has sent a request stays", 5, "A1 b1 C1 d1 e1 f1 g1", "A1 C1 e1 f1 g1"},
		{"an idle one goes, if no other can", 5, "A1 B1 C1 D1 E1 f1", "B1 C1 D1 E1 f1"},
		{"one address has its share", 8, "a1 a2 a3 b1 a4 b2 a5", "a3 b1 a4 b2 a5"},
		{"an idle one of that address goes first", 8, "A1 A2 A3 b1 a4 b2", "A2 A3 b1 a4 b2"},
		{"a network of IPv6 is one address", 4, "s1 t1 s2 t2", "s2 t2"},
		{"this machine has a share, too", 8, "l1 l2 l3 L4 L5 l6", "l3 L4 L5 l6"},
		{"a reserve is for this machine", 8, "a1 b1 c1 d1 e1 f1 g1 l1", "a1 b1 c1 d1 e1 f1 g1 l1"},
		{"other addresses cannot use the reserve", 8, "a1 b1 c1 d1 e1 f1 g1 h1", "b1 c1 d1 e1 f1 g1 h1"},
	} {
		r := New(Options{MaxConnections: test.limit})
		all := map[string]*fakeConn{}
		var names []string
		for name := range strings.FieldsSeq(test.come) {
			letter := name[0] | 0x20
			c, raw := newFakeConn(r, addresses[letter])
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

func TestAddressesAreForgotten(t *testing.T) {
	r := New(Options{MaxConnections: 1000})
	for n := range 100 {
		c, _ := newFakeConn(r, fmt.Sprintf("192.0.2.%d", n))
		if !r.add(c) {
			t.Fatal("no room")
		}
		r.remove(c)
		r.remove(c)
	}
	if s := r.Stats(); s.Open != 0 || s.New != 0 || len(r.owned) != 0 {
		t.Errorf("%d, %d, %d are left", s.Open, s.New, len(r.owned))
	}
}

// TestNewConnsAmongAnonymous tests that new connections have time for a handshake, even if
// anonymous clients that have sent one request hold all connections.
func TestNewConnsAmongAnonymous(t *testing.T) {
	const limit = 128
	r := New(Options{MaxConnections: limit})
	come := func(address string) *fakeConn {
		c, raw := newFakeConn(r, address)
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
		come("192.0.2.9") // sends nothing
	}
	for range 10 * limit {
		come("192.0.2.2")
	}
	if honest.closed {
		t.Error("a new connection has made room for anonymous ones that are idle")
	}
}

func TestLargestHolder(t *testing.T) {
	r := New(Options{MaxConnections: 7})
	come := func(user string) *fakeConn {
		c, raw := newFakeConn(r, "192.0.2.1")
		if !r.add(c) {
			t.Fatal("turned away")
		}
		if _, err := c.SetUser(user, true); err != nil {
			t.Fatal(err)
		}
		c.phase = phaseIdle
		return raw
	}
	var conns []*fakeConn
	for user := range strings.FieldsSeq("small large small large large large other newcomer newcomer") {
		conns = append(conns, come(user))
	}
	for n, c := range conns {
		if want := n == 1 || n == 3; c.closed != want {
			t.Errorf("connection %d: closed %t", n, c.closed)
		}
	}
}

// TestLargeHeadEviction tests that the oldest anonymous connections with a large head are evicted
// at the limit.
func TestLargeHeadEviction(t *testing.T) {
	r := New(Options{MaxConnections: 2 * maxLargeHeads})
	var all []*fakeConn
	come := func() *Conn {
		c, raw := newFakeConn(r, fmt.Sprintf("192.0.%d.%d", len(all)/256, len(all)%256))
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
