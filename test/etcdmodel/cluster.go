package etcdmodel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// A Cluster is a history and the members that serve it.
type Cluster struct {
	Members []*Member

	mu      sync.Mutex // guards the fields below and those of members and links
	changed chan struct{}
	id      uint64
	history *history
	noSpace bool
	links   []*Link
}

// minPing is the minimum time between the pings of a client, as in etcd.
const minPing = 5 * time.Second

// New returns a cluster of n running members. It must be closed.
func New(n int) *Cluster {
	c := &Cluster{id: 1, history: newHistory(), changed: make(chan struct{})}
	for i := range n {
		m := &Member{cluster: c, id: uint64(i + 1), up: true}
		m.server = grpc.NewServer(grpc.UnaryInterceptor(m.intercept), grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing}))
		etcdserverpb.RegisterKVServer(m.server, &keyValues{member: m})
		etcdserverpb.RegisterWatchServer(m.server, &watches{member: m})
		etcdserverpb.RegisterMaintenanceServer(m.server, &maintenance{member: m})
		c.Members = append(c.Members, m)
	}
	return c
}

// URLs returns the endpoints of all members, for a client that dials with a Link.
func (c *Cluster) URLs() (urls []string) {
	for _, m := range c.Members {
		urls = append(urls, "http://"+m.host())
	}
	return urls
}

// Close heals all links, so that no request waits, and ends all connections.
func (c *Cluster) Close() {
	for _, m := range c.Members {
		m.Lag(false)
		m.Stop()
	}
	for _, l := range c.links {
		l.Set(Fault{})
	}
	for _, m := range c.Members {
		m.server.Stop()
	}
}

// update calls change with the lock, and wakes everything that waits for a change.
func (c *Cluster) update(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await blocks until ok returns true, which it calls with the lock, or until ctx is done.
func (c *Cluster) await(ctx context.Context, ok func() bool) error {
	for {
		c.mu.Lock()
		done, changed := ok(), c.changed
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Revision returns the newest revision.
func (c *Cluster) Revision() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.history.revision
}

// Compact drops the history up to a revision. It returns etcd's error if that is not possible.
func (c *Cluster) Compact(revision int64) (err error) {
	c.update(func() { err = c.history.compact(revision) })
	return err
}

// NoSpace sets or clears the alarm NOSPACE.
func (c *Cluster) NoSpace(full bool) { c.update(func() { c.noSpace = full }) }

// A Backup is the state of a cluster at one revision.
type Backup struct{ history *history }

func (c *Cluster) Save() Backup {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Backup{c.history.clone()}
}

// Restore stops all members, replaces the history and starts them. If bump is above 0, it is added
// to the revision, and everything before is compacted, as with --bump-revision and
// --mark-compacted.
func (c *Cluster) Restore(b Backup, bump int64) {
	c.replace(func() {
		c.history = b.history.clone()
		if bump > 0 {
			c.history.revision += bump
			c.history.compacted = c.history.revision
		}
	})
}

// Replace stops all members, and starts other ones without data.
func (c *Cluster) Replace() {
	c.replace(func() { c.id, c.history = c.id+1, newHistory() })
}

func (c *Cluster) replace(change func()) {
	var running []*Member
	for _, m := range c.Members {
		if m.Stop() {
			running = append(running, m)
		}
	}
	c.update(change)
	for _, m := range running {
		m.Start()
	}
}

// hasLeader reports whether a majority of the members runs. The caller must hold the lock.
func (c *Cluster) hasLeader() bool {
	up := 0
	for _, m := range c.Members {
		if m.up {
			up++
		}
	}
	return up > len(c.Members)/2
}

// A Member serves the history of its cluster.
type Member struct {
	cluster *Cluster
	id      uint64
	server  *grpc.Server

	up      bool
	stops   int // increases with each stop
	lags    bool
	applied int64 // newest revision that watches see while the member lags
}

func (m *Member) host() string { return fmt.Sprintf("member-%d:2379", m.id) }

// Stop breaks all connections. It returns false if the member does not run.
func (m *Member) Stop() (stopped bool) {
	m.cluster.update(func() {
		if stopped = m.up; stopped {
			m.up = false
			m.stops++
		}
	})
	for _, l := range m.cluster.allLinks() {
		l.disconnect(m)
	}
	return stopped
}

func (m *Member) Start() { m.cluster.update(func() { m.up = true }) }

// Lag stops or resumes applying new revisions.
func (m *Member) Lag(lags bool) {
	m.cluster.update(func() { m.lags, m.applied = lags, m.cluster.history.revision })
}

// visible returns the newest revision that the member's watches see. The caller must hold the lock.
func (m *Member) visible() int64 {
	if m.lags {
		return min(m.applied, m.cluster.history.revision)
	}
	return m.cluster.history.revision
}

// header returns a response header. The caller must hold the lock.
func (m *Member) header() *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{ClusterId: m.cluster.id, MemberId: m.id, Revision: m.cluster.history.revision, RaftTerm: 1}
}

// intercept applies the faults of the link and the member to a request.
func (m *Member) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	l, c := linkOf(ctx), m.cluster
	c.mu.Lock()
	stops := m.stops
	c.mu.Unlock()
	if err := l.pass(context.WithoutCancel(ctx), func(f Fault) Action { return f.Requests }); err != nil {
		return nil, err
	}
	if err := m.awaitLeader(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	gone := stops != m.stops
	c.mu.Unlock()
	if gone {
		return nil, errBroken
	}
	response, err := handle(ctx, request)
	if lagging := c.await(ctx, func() bool { return !m.lags }); lagging != nil {
		return nil, lagging
	}
	if fault := l.pass(ctx, func(f Fault) Action { return f.Responses }); fault != nil {
		return nil, fault
	}
	return response, err
}

// awaitLeader fails if there is no leader and the client requires one. Otherwise it waits for it.
func (m *Member) awaitLeader(ctx context.Context) error {
	values, _ := metadata.FromIncomingContext(ctx)
	required := len(values.Get(rpctypes.MetadataRequireLeaderKey)) > 0
	absent := false
	err := m.cluster.await(ctx, func() bool {
		absent = !m.cluster.hasLeader()
		return !absent || required
	})
	if err == nil && absent {
		err = rpctypes.ErrGRPCNoLeader
	}
	return err
}

// An Action is what happens to requests, responses or events.
type Action int

const (
	Pass Action = iota
	Hold
	Fail
)

// A Fault describes a link. The zero value is a link without a fault.
type Fault struct{ Requests, Responses, Events Action }

// errBroken is what a client sees if a connection breaks during a request.
var errBroken = status.Error(codes.Unavailable, "the connection is broken")

// A Link connects one client to all members. Its Dial is an option of the client.
type Link struct {
	cluster   *Cluster
	fault     Fault
	listeners map[string]*bufconn.Listener // by the host of a member
	conns     map[net.Conn]*Member
}

// Link returns a new link.
func (c *Cluster) Link() *Link {
	l := &Link{cluster: c, listeners: map[string]*bufconn.Listener{}, conns: map[net.Conn]*Member{}}
	for _, m := range c.Members {
		listener := bufconn.Listen(1 << 20)
		l.listeners[m.host()] = listener
		go func() { _ = m.server.Serve(linked{listener, l}) }() // Serve returns when the server stops
	}
	c.update(func() { c.links = append(c.links, l) })
	return l
}

func (c *Cluster) allLinks() []*Link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.links
}

// Set replaces the fault of the link, and thereby releases what waits if it passes now.
func (l *Link) Set(f Fault) {
	l.cluster.update(func() { l.fault = f })
	if f.Requests == Fail {
		l.Break()
	}
}

// Break breaks all connections.
func (l *Link) Break() {
	for _, m := range l.cluster.Members {
		l.disconnect(m)
	}
}

func (l *Link) disconnect(from *Member) {
	var ended []net.Conn
	l.cluster.update(func() {
		for conn, m := range l.conns {
			if m == from {
				ended = append(ended, conn)
				delete(l.conns, conn)
			}
		}
	})
	for _, conn := range ended {
		_ = conn.Close() // in memory
	}
}

// pass applies one action of the link's fault. It returns an error if ctx is done before the link
// passes again.
func (l *Link) pass(ctx context.Context, of func(Fault) Action) error {
	failed := false
	err := l.cluster.await(ctx, func() bool {
		failed = of(l.fault) == Fail
		return of(l.fault) != Hold
	})
	if err == nil && failed {
		err = errBroken
	}
	return err
}

// Dial connects to a member.
func (l *Link) Dial(ctx context.Context, address string) (net.Conn, error) {
	for _, m := range l.cluster.Members {
		if m.host() != address {
			continue
		}
		conn, err := l.listeners[address].DialContext(ctx)
		if err != nil {
			return nil, err
		}
		refused := false
		l.cluster.update(func() {
			if refused = !m.up || l.fault.Requests == Fail; !refused {
				l.conns[conn] = m
			}
		})
		if refused {
			return nil, errors.Join(errors.New("connection refused"), conn.Close())
		}
		return conn, nil
	}
	return nil, fmt.Errorf("%s: no such host", address)
}

// linked marks the connections of a listener with their link.
type linked struct {
	*bufconn.Listener
	link *Link
}

func (l linked) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return linkedConn{conn, l.link}, err
}

type linkedConn struct {
	net.Conn
	link *Link
}

func (c linkedConn) RemoteAddr() net.Addr { return linkAddr{c.link} }

type linkAddr struct{ link *Link }

func (linkAddr) Network() string { return "memory" }
func (linkAddr) String() string  { return "link" }

func linkOf(ctx context.Context) *Link {
	p, _ := peer.FromContext(ctx)
	return p.Addr.(linkAddr).link
}
