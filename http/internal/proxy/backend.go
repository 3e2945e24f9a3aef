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

// BackendOptions configures connections to one group of servers. All fields are optional.
type BackendOptions struct {
	// TLS contains the CAs and the client certificate. ServerName, if set, replaces the URL's
	// host in the verification.
	TLS *tls.Config
	// Dial opens a connection. The default dials the URL's host, and ignores the proxies set in the
	// environment.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// DialTimeout limits the time to connect. The default is 30 s.
	DialTimeout time.Duration
	// MaxIdle limits the idle connections per server. The default is 16.
	MaxIdle int
}

// A Backend pools connections to servers with the same options. It is safe for concurrent use.
type Backend struct {
	transport *http.Transport
	upgrade   *tls.Config // for upgrades, which need HTTP/1.1
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	timeout   time.Duration
}

const (
	handshakeTimeout      = 10 * time.Second
	idleTimeout           = 90 * time.Second
	maxResponseHeaderSize = 256 << 10
	copyBufferSize        = 16 << 10
)

// NewBackend returns a Backend without connections.
func NewBackend(o BackendOptions) *Backend {
	config := cmp.Or(o.TLS, &tls.Config{})
	b := &Backend{upgrade: config.Clone(), dial: o.Dial, timeout: cmp.Or(o.DialTimeout, 30*time.Second)}
	b.upgrade.NextProtos = []string{"http/1.1"}
	if b.dial == nil {
		b.dial = (&net.Dialer{}).DialContext // its keep-alives detect dead peers
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

// NewUnverifiedBackend returns a Backend that does not verify certificates.
func NewUnverifiedBackend(dial func(ctx context.Context, network, address string) (net.Conn, error)) *Backend {
	return NewBackend(BackendOptions{TLS: &tls.Config{InsecureSkipVerify: true}, Dial: dial})
}

// Close closes idle connections. Busy connections close after use.
func (b *Backend) Close() { b.transport.CloseIdleConnections() }

// RoundTrip sends a request that the server makes on its own behalf.
func (b *Backend) RoundTrip(r *http.Request) (*http.Response, error) { return b.transport.RoundTrip(r) }

func (b *Backend) dialInTime(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	return b.dial(ctx, network, address)
}

// DialUpgrade opens a separate HTTP/1.1 connection to a server, with TLS for https.
func (b *Backend) DialUpgrade(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
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
		_ = raw.Close() // the handshake's error counts
		return nil, fmt.Errorf("the TLS handshake has failed: %w", err)
	}
	return c, nil
}
