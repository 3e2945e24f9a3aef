package wire

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// Options configures connections. All fields are required except Ledger, TLS, ClientCAs and
// HTTP2MaxStreams.
type Options struct {
	Ledger         *limits.Ledger
	MaxConnections int // maximum open connections
	// HandshakeTimeout limits a TLS handshake, ReadTimeout one whole request, IdleTimeout the time
	// between requests, and WriteTimeout one write to a client.
	HandshakeTimeout, ReadTimeout, IdleTimeout, WriteTimeout time.Duration
	TLS                                                      *tls.Config // nil: no TLS
	// ClientCAs returns the CAs that a handshake announces in its client certificate request. If it
	// is nil, no CAs are announced. When the CAs change, it must return a new pool.
	ClientCAs func() *x509.CertPool
	Log       *slog.Logger
	// HTTP2MaxStreams is the maximum number of concurrent requests on an HTTP/2 connection. 0
	// disables HTTP/2.
	HTTP2MaxStreams int
	// NewHandler returns the handler for a new connection.
	NewHandler func(*Conn) Handler
}

// A Handler handles the requests of one connection, one at a time.
type Handler interface {
	// ServeRequest handles a request whose head was read. It reads the body with Conn.ReadBody.
	ServeRequest(ctx *fasthttp.RequestCtx)
	// RejectHead responds to a request whose head could not be read.
	RejectHead(ctx *fasthttp.RequestCtx, err error)
	// ReplaceUnwritable replaces an unwritable response with an error response.
	ReplaceUnwritable(r *fasthttp.Response)
}
