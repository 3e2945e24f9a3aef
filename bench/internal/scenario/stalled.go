package scenario

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// How many watch the same objects, and how many of them read nothing.
const (
	stalledWatchers = 2_000
	stalledReaders  = 1_000
)

// stalledBuffer is the receive buffer of a stalled reader, small, so that its server soon finds the
// connection full. The kernel may double it, which still is little.
const stalledBuffer = 4 << 10

// stalled: the latency of events at watchers that read while as many others have stopped reading, after the
// same without those others. Bursts are short: the readers' latency is looked at, not how much a server can
// send. A server that writes to all watchers in turn waits for those that do not read.
func stalled(ctx context.Context, s *Session) ([]Result, error) {
	total := s.connections("stalled-readers: watchers", s.scaledSize("stalled-readers: watchers", stalledWatchers))
	still := total * stalledReaders / stalledWatchers
	f, err := s.prepare(ctx, s.hotCount())
	if err != nil {
		return nil, err
	}
	defer f.remove()
	b := broadcast{target: s.Target, watchers: total - still, burst: min(s.Burst, 10), publish: f.put(f.total), load: s.load()}
	if b.watch, err = f.watchPath(); err != nil {
		return nil, err
	}
	alone, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	if b.watch, err = f.watchPath(); err != nil {
		return nil, err
	}
	conns, err := openStalledWatches(ctx, s.Target, b.watch, still)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	among, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	return []Result{
		{Name: "stalled-readers, none stalled", Sample: alone},
		{Name: "stalled-readers", Sample: among},
	}, nil
}

// openStalledWatches opens n watches of which nothing but the headers is read. The kernel buffers the first
// events for both sides; from then on the server has to.
func openStalledWatches(ctx context.Context, target *server.Target, path string, n int) ([]*server.Conn, error) {
	conns := make([]*server.Conn, n)
	var opening errgroup.Group
	opening.SetLimit(maxDialers)
	for i := range conns {
		conns[i] = target.Conn()
		opening.Go(func() error {
			c := conns[i]
			if err := c.Dial(ctx); err != nil {
				return err
			}
			if tcp, ok := c.Net.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn); ok {
				if err := tcp.SetReadBuffer(stalledBuffer); err != nil {
					return fmt.Errorf("receive buffer: %w", err)
				}
			}
			_, err := c.Watch(path)
			return err
		})
	}
	return conns, opening.Wait()
}
