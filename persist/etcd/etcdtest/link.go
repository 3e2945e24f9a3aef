package etcdtest

import (
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
)

// A Link is a loopback proxy to a server. Tests use it to delay, block, or reset connections.
type Link struct {
	t      testing.TB
	to     string
	listen net.Listener
	mu     sync.Mutex
	cut    bool // both directions; data waits, as on a network that loses packets
	deaf   bool // no responses
	delay  time.Duration
	passed int // pieces from the server
	open   map[net.Conn]bool
	mended chan struct{} // closed when nothing is cut
}

// NewLink returns a link to a server. It is closed when the test ends.
func NewLink(t testing.TB, server string) *Link {
	t.Helper()
	u := must.Get(url.Parse(server))(t)
	l := &Link{t: t, to: u.Host, open: map[net.Conn]bool{}, mended: make(chan struct{}), listen: must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)}
	close(l.mended)
	t.Cleanup(func() { l.listen.Close(); l.Mend(); l.Reset() })
	go l.serve()
	return l
}

// URL returns the URL that reaches the server through the link.
func (l *Link) URL() string { return "http://" + l.listen.Addr().String() }

func (l *Link) serve() {
	for {
		from, err := l.listen.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", l.to)
		if err != nil {
			from.Close()
			continue
		}
		l.mu.Lock()
		l.open[from], l.open[to] = true, true
		l.mu.Unlock()
		go l.copy(to, from, false)
		go l.copy(from, to, true)
	}
}

func (l *Link) copy(to, from net.Conn, back bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		l.mu.Lock()
		mended := l.mended
		delay := l.delay
		blocked := l.cut || l.deaf && back
		l.mu.Unlock()
		if blocked {
			<-mended
		}
		time.Sleep(delay)
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
			if back {
				l.mu.Lock()
				l.passed++
				l.mu.Unlock()
			}
		}
		if err != nil {
			return
		}
	}
}

// Block withholds data in both directions until Mend.
func (l *Link) Block() { l.block(true, false) }

// BlockAnswers forwards requests but withholds responses.
func (l *Link) BlockAnswers() { l.block(false, true) }

func (l *Link) block(cut, deaf bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut && !l.deaf {
		l.mended = make(chan struct{})
	}
	l.cut, l.deaf = cut, deaf
}

// Mend ends a block or delay and forwards the withheld data.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut || l.deaf {
		close(l.mended)
	}
	l.cut, l.deaf, l.delay = false, false, 0
}

// Reset closes all connections and drops withheld data.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		c.Close()
		delete(l.open, c)
	}
}

// Passed returns the number of chunks received from the server.
func (l *Link) Passed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passed
}

// Slow delays each chunk of data.
func (l *Link) Slow(delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = delay
}
