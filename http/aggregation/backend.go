package aggregation

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/policy/authn"
)

// A backend reaches one address, and knows what was last served there.
type backend struct {
	address address
	proxy   *proxy.Backend
	fault   error // why it cannot be reached at all; nil if it may be
	servers *Servers

	// wake tells the goroutines that ask it that something has changed; each has its own, with room for one.
	wakeDiscovery, wakeOpenAPI chan struct{}
	stop                       context.CancelFunc // ends these goroutines

	discovery atomic.Pointer[discoveryState]
	openapi   atomic.Pointer[openapiState]
}

const (
	// dialTimeout is for connecting to one of several endpoints of a Service, of which maxEndpoints are tried.
	dialTimeout  = 2 * time.Second
	maxEndpoints = 3
)

// newBackend makes the backend of an address. Nothing is asked before run.
func newBackend(s *Servers, a address) *backend {
	b := &backend{address: a, servers: s, wakeDiscovery: make(chan struct{}, 1), wakeOpenAPI: make(chan struct{}, 1)}
	b.discovery.Store(&discoveryState{})
	b.openapi.Store(&openapiState{})
	// A bundle that is no certificate keeps nobody from registering: requests are told of it.
	config, err := a.tls(s.opts.ClientCertificate)
	if err != nil {
		b.fault = err
		config = &tls.Config{}
	}
	b.proxy = proxy.NewBackend(proxy.BackendOptions{TLS: config, Dial: b.dial, DialTimeout: 10 * time.Second})
	return b
}

// dial connects to the Service, wherever the URL leads.
func (b *backend) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	addresses, err := b.servers.opts.Resolver.Resolve(b.address.namespace, b.address.service, b.address.port)
	if err != nil {
		return nil, err
	}
	// One endpoint gets all the time that there is; of several each gets a little, so that one that is gone is passed over.
	var dialer net.Dialer
	if len(addresses) > 1 {
		dialer.Timeout = dialTimeout
	}
	var errs error
	for _, to := range addresses[:min(len(addresses), maxEndpoints)] {
		conn, err := dialer.DialContext(ctx, network, to)
		if err == nil {
			return conn, nil
		}
		errs = err
	}
	return nil, errs
}

// run asks the backend, until ctx ends. What it has said does not count against the bound any more then.
func (b *backend) run(ctx context.Context) {
	ctx, b.stop = context.WithCancel(ctx)
	b.servers.running.Go(func() {
		b.repeat(ctx, b.wakeDiscovery, discoveryPauses, b.refreshDiscovery)
		b.servers.keep(-b.discovery.Load().bytes)
	})
	b.servers.running.Go(func() {
		b.repeat(ctx, b.wakeOpenAPI, openapiPauses, b.refreshOpenAPI)
		b.servers.keep(-b.openapi.Load().bytes)
	})
}

// close ends what run has begun.
func (b *backend) close() {
	b.stop()
	b.proxy.Close()
}

// wake has the backend asked again, soon.
func (b *backend) wake() {
	// A wake-up that finds another one waiting is that one: nothing blocks, and none is lost.
	for _, c := range []chan struct{}{b.wakeDiscovery, b.wakeOpenAPI} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// pauses are the times between two questions: after one that was answered, and after failures, where they double from the
// least to the most.
type pauses struct{ answered, least, most time.Duration }

// repeat calls refresh at once, and again and again.
func (b *backend) repeat(ctx context.Context, wake <-chan struct{}, p pauses, refresh func(context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := p.least
	for {
		select {
		case <-timer.C:
		case <-wake:
			pause = p.least
		case <-ctx.Done():
			return
		}
		err := refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			pause = p.least
			timer.Reset(p.answered)
		default:
			b.servers.opts.Log.Debug("a server cannot be asked what it serves", "server", b.address.text(), "error", err)
			timer.Reset(pause)
			pause = min(2*pause, p.most)
		}
	}
}

// A question is what this package asks a backend for itself.
type question struct {
	method              string // "" is GET
	path, query, accept string
	etag                string
	body                []byte // JSON; nil: none
	user                *authn.User
	timeout             time.Duration
	maxBytes            int64
}

// An answer is what a backend has said.
type answer struct {
	code              int
	contentType, etag string
	body              []byte
}

var errTooLarge = errors.New("the answer is too large")

// ask asks the backend. The error says that there is no answer, or one that is too large.
func (b *backend) ask(ctx context.Context, q question) (*answer, error) {
	if b.fault != nil {
		return nil, b.fault
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	// The host is the name that the certificate must have; dial decides where that is.
	u := url.URL{Scheme: "https", Host: b.address.hostPort(), Path: q.path, RawQuery: q.query}
	r, err := http.NewRequestWithContext(ctx, cmp.Or(q.method, http.MethodGet), u.String(), bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	b.servers.opts.Identity.identify(r.Header, q.user)
	r.Header.Set("Accept", q.accept)
	if q.etag != "" {
		r.Header.Set("If-None-Match", q.etag)
	}
	resp, err := b.proxy.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // what is left of it is not wanted
	body, err := b.servers.read(resp.Body, q.maxBytes)
	if err != nil {
		return nil, err
	}
	return &answer{resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Etag"), body}, nil
}

const (
	// maxReading bounds the answers that are being read of all backends together.
	maxReading = 64 << 20
	readPiece  = 256 << 10
)

var errReading = errors.New("too much is being read of all servers together")

// read reads an answer to its end.
func (s *Servers) read(from io.Reader, most int64) ([]byte, error) {
	var all bytes.Buffer
	taken := int64(0)
	defer func() { s.reading.Release(taken) }()
	for {
		// It is set aside piece by piece: a promised length is worth nothing.
		if !s.reading.TryAcquire(readPiece, false) {
			return nil, errReading
		}
		taken += readPiece
		_, err := io.CopyN(&all, from, readPiece)
		switch {
		case int64(all.Len()) > most:
			return nil, fmt.Errorf("%w: it has more than %d bytes", errTooLarge, most)
		case err == io.EOF:
			return all.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}
