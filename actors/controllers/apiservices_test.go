package controllers

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/actors/controllers/apiservices"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// stubbornProber fails the first calls to Notify and signals each probe.
type stubbornProber struct {
	refusals int // remaining failures
	probed   chan struct{}
	notified chan func(namespace, name string)
}

func (p *stubbornProber) Probe(ctx context.Context, _ tree.Tree) apiservices.Unavailability {
	select {
	case p.probed <- struct{}{}:
	case <-ctx.Done():
	}
	return apiservices.Unavailability{Reason: "ServiceNotFound", Message: "none"}
}

func (p *stubbornProber) Notify(ctx context.Context, onChange func(namespace, name string)) error {
	if p.refusals--; p.refusals >= 0 {
		return errors.New("not now")
	}
	select {
	case p.notified <- onChange:
	case <-ctx.Done():
	}
	<-ctx.Done() // Run waits for it
	return ctx.Err()
}

func TestServicesAreFollowed(t *testing.T) {
	w := newTestStore(t)
	p := &stubbornProber{refusals: 3, probed: make(chan struct{}), notified: make(chan func(string, string))}
	a := apiservices.NewAvailability(w.env(), p, apiservices.NewMetrics())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { a.Run(ctx) })
	k := w.kindNamed("APIService")
	must.Get(w.Mutate(ctx, request.Mutation{Kind: k, Key: meta.Key{GroupResource: k.Storage, Name: "v1.example.com"}, Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "v1.example.com"},
		"spec": tree.Tree{"group": "example.com", "version": "v1", "groupPriorityMinimum": int64(1), "versionPriority": int64(1),
			"insecureSkipTLSVerify": true, "service": tree.Tree{"namespace": "default", "name": "ext", "port": int64(443)}},
	}}}))(t)
	<-p.probed
	changed := <-p.notified
	go changed("default", "ext")
	<-p.probed
	cancel()
	running.Wait()
}
