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
	"github.com/troupe-api/troupe/policy/services"
)

// A backend connects to one address and caches the discovery and OpenAPI documents of its server.
type backend struct {
	address address
	proxy   *proxy.Backend
	fault   error // configuration error that makes it unreachable, or nil
	servers *Servers

	// These channels wake the refreshing goroutines. Each has a buffer of one.
	wakeDiscovery, wakeOpenAPI chan struct{}
	stop                       context.CancelFunc // ends these goroutines

	discovery atomic.Pointer[discoveryState]
	openapi   atomic.Pointer[openapiState]
}

const ()

// newBackend returns the backend for an address. It sends no requests before run.
func newBackend(s *Servers, a address) *backend {
	b := &backend{address: a, servers: s, wakeDiscovery: make(chan struct{}, 1), wakeOpenAPI: make(chan struct{}, 1)}
	b.discovery.Store(&discoveryState{})
	b.openapi.Store(&openapiState{})
	// A malformed CA bundle does not prevent registration. Instead, requests return the error.
	config, err := a.tls(s.opts.ClientCertificate)
	if err != nil {
		b.fault = err
		config = &tls.Config{}
	}
	b.proxy = proxy.NewBackend(proxy.BackendOptions{TLS: config, Dial: b.dial, DialTimeout: 10 * time.Second})
	return b
}

// dial connects to an endpoint of the Service. It ignores the address, which comes from the URL.
func (b *backend) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	addresses, err := b.servers.opts.Resolver.Resolve(b.address.namespace, b.address.service, b.address.port)
	if err != nil {
		return nil, err
	}
	return services.Dial(ctx, net.Dialer{}, network, addresses)
}

// run refreshes discovery and OpenAPI until ctx ends. It then releases the memory reserved for the
// documents.
func (b *backend) run(ctx context.Context) {
	ctx, b.stop = context.WithCancel(ctx)
	b.servers.running.Go(func() {
		b.repeat(ctx, b.wakeDiscovery, discoveryIntervals, b.refreshDiscovery)
		b.servers.keep(-b.discovery.Load().bytes)
	})
	b.servers.running.Go(func() {
		b.repeat(ctx, b.wakeOpenAPI, openapiIntervals, b.refreshOpenAPI)
		b.servers.keep(-b.openapi.Load().bytes)
	})
}

func (b *backend) close() {
	b.stop()
	b.proxy.Close()
}

func (b *backend) wake() {
	// Drop the signal if one is already pending.
	for _, c := range []chan struct{}{b.wakeDiscovery, b.wakeOpenAPI} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// intervals holds the pauses between refreshes. The pause is success after a successful refresh.
// After failures, it doubles from initial to limit.
type intervals struct{ success, initial, limit time.Duration }

// repeat calls refresh immediately, after each wake-up, and periodically until ctx ends.
func (b *backend) repeat(ctx context.Context, wake <-chan struct{}, p intervals, refresh func(context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := p.initial
	for {
		select {
		case <-timer.C:
		case <-wake:
			pause = p.initial
		case <-ctx.Done():
			return
		}
		err := refresh(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			pause = p.initial
			timer.Reset(p.success)
		default:
			b.servers.opts.Log.Debug("cannot get the discovery of a server", "server", b.address.text(), "error", err)
			timer.Reset(pause)
			pause = min(2*pause, p.limit)
		}
	}
}

// A request is an HTTP request to a backend, either from this package or for a RemoteRequest.
type request struct {
	method              string // "" is GET
	path, query, accept string
	etag                string
	body                []byte // JSON; nil: none
	user                *authn.User
	timeout             time.Duration
	maxBytes            int64
}

// A response is a complete response of a backend, with any status code.
type response struct {
	code              int
	contentType, etag string
	body              []byte
}

var errTooLarge = errors.New("the response is too large")

// send sends a request. It fails if the backend does not respond or the response is too large.
func (b *backend) send(ctx context.Context, q request) (*response, error) {
	if b.fault != nil {
		return nil, b.fault
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	// The host is used only to verify the certificate, because dial selects the endpoint.
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
	defer func() { _ = resp.Body.Close() }() // the rest is not needed
	body, err := b.servers.read(resp.Body, q.maxBytes)
	if err != nil {
		return nil, err
	}
	return &response{resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Etag"), body}, nil
}

const (
	// maxReading limits the total bytes of responses being read from all backends.
	maxReading = 64 << 20
	readPiece  = 256 << 10
)

var errReading = errors.New("too much is being read from all servers together")

func (s *Servers) read(from io.Reader, limit int64) ([]byte, error) {
	var all bytes.Buffer
	taken := int64(0)
	defer func() { s.reading.Release(taken) }()
	for {
		// Acquire memory piece by piece, because a Content-Length cannot be trusted.
		if !s.reading.TryAcquire(readPiece) {
			return nil, errReading
		}
		taken += readPiece
		_, err := io.CopyN(&all, from, readPiece)
		switch {
		case int64(all.Len()) > limit:
			return nil, fmt.Errorf("%w: it has more than %d bytes", errTooLarge, limit)
		case err == io.EOF:
			return all.Bytes(), nil
		case err != nil:
			return nil, err
		}
	}
}
