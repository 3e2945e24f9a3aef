package storage

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/troupe-api/troupe/actors"
	front "github.com/troupe-api/troupe/http"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/vfs"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
	"github.com/troupe-api/troupe/test/client"
)

type admin struct{}

func (admin) Authenticate(authn.Request) (*authn.User, error) {
	return &authn.User{Name: "admin", Groups: []string{"system:masters"}}, nil
}

// A server is the simulated server during one lifetime.
type server struct {
	*client.Client
	network *network
	journal *persist.Journal
	store   *actors.Store
	front   *front.Server
}

// serveSimulation starts a server on a disk. Segments and snapshots are small, so that a short
// lifetime has several of them.
func serveSimulation(kinds *catalog.Catalog, disk *vfs.Mem, now func() time.Time, history time.Duration) (*server, error) {
	quiet := slog.New(slog.DiscardHandler)
	journal, err := persist.Open("data", persist.Options{FS: disk, SegmentBytes: 4 << 10, ReserveBytes: 1 << 10, WatermarkInterval: -1, Now: now, Logger: quiet})
	if err != nil {
		return nil, err
	}
	tuning := actors.DefaultTuning()
	tuning.SnapshotBytes, tuning.IdleTime, tuning.HistoryTime = 16<<10, time.Millisecond, history
	store, err := actors.Open(actors.Options{Log: journal, Catalog: kinds, Naming: meta.Platform, Tuning: tuning, Now: now, Logger: quiet, Fatal: func(error) {}})
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	s := &server{network: newNetwork(), journal: journal, store: store}
	s.front, err = front.New(front.Options{
		Naming: meta.Platform, Catalog: kinds, Store: store, Authenticator: admin{}, Authorizer: authz.Masters{}, Listener: s.network, Logger: quiet,
	})
	if err != nil {
		return nil, err
	}
	go func() { _ = s.front.Serve() }() // Serve returns when the network is closed
	s.Client = client.Over("http://troupe", s.network.transport())
	return s, nil
}

// stop shuts the server down, even if the disk has failed.
func (s *server) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), client.Watchdog)
	defer cancel()
	s.Close()
	err := s.front.Shutdown(ctx)
	_ = s.store.Close(ctx) // a failed store or journal returns its error again
	_ = s.journal.Close()
	return errors.Join(err, ctx.Err())
}
