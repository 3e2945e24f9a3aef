package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// BackendOptions say how servers of one sort are reached. The zero value is useful.
type BackendOptions struct {
	// TLS says whom to trust, and what to prove oneself with. The name that is verified is that of the URL, unless
	// ServerName is set.
	TLS *tls.Config
	// Dial makes connections; nil: as the URL says. A proxy that the environment names is never used.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// DialTimeout is for making a connection [30 s].
	DialTimeout time.Duration
	// MaxIdle bounds the connections to one server that are kept while nothing is asked [16].
	MaxIdle int
}

// A Backend is how servers of one sort are reached. It keeps connections to them; many goroutines may use it.
type Backend struct {
	transport *http.Transport
	upgrade   *tls.Config // of connections that are to be upgraded, which HTTP/2 cannot be
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	timeout   time.Duration
}

// The bounds of what a backend may take.
const (
	handshakeTimeout      = 10 * time.Second
	idleTimeout           = 90 * time.Second
	maxResponseHeaderSize = 256 << 10
	copyBufferSize        = 16 << 10
)

// NewBackend makes a Backend.
func NewBackend(o BackendOptions) *Backend {
	config := o.TLS
	if config == nil {
		config = &tls.Config{}
	}
	b := &Backend{upgrade: config.Clone(), dial: o.Dial, timeout: cmp.Or(o.DialTimeout, 30*time.Second)}
	b.upgrade.NextProtos = []string{"http/1.1"}
	if b.dial == nil {
		b.dial = (&net.Dialer{}).DialContext // its keep-alives find out who has gone without a word
	}
	b.transport = &http.Transport{
		DialContext: b.dialInTime, TLSClientConfig: config.Clone(), ForceAttemptHTTP2: true, DisableCompression: true,
		TLSHandshakeTimeout: handshakeTimeout, IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: cmp.Or(o.MaxIdle, 16),
		ExpectContinueTimeout: time.Second, MaxResponseHeaderBytes: maxResponseHeaderSize,
		WriteBufferSize: copyBufferSize, ReadBufferSize: copyBufferSize,
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
	return b
}

// NewUnverifiedBackend makes a Backend of servers of which nobody knows what certificates they should have.
func NewUnverifiedBackend(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Backend {
	return NewBackend(BackendOptions{TLS: &tls.Config{InsecureSkipVerify: true}, Dial: dial})
}

// Close closes the connections that are kept. Those in use are closed when they are not any more.
func (b *Backend) Close() { b.transport.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper, for what is asked of a backend beside what is passed on.
func (b *Backend) RoundTrip(r *http.Request) (*http.Response, error) { return b.transport.RoundTrip(r) }

// dialInTime makes a connection, without TLS.
func (b *Backend) dialInTime(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	return b.dial(ctx, network, address)
}

// DialUpgrade makes a connection of its own to a server, with TLS if the URL says so, on which HTTP/1.1 is spoken.
func (b *Backend) DialUpgrade(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	raw, err := b.dialInTime(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil || u.Scheme != "https" {
		return raw, err
	}
	config := b.upgrade
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName = u.Hostname()
	}
	c := tls.Client(raw, config)
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close() // the handshake is what has failed
		return nil, fmt.Errorf("the TLS handshake has failed: %w", err)
	}
	return c, nil
}
