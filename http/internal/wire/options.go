package wire

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/valyala/fasthttp"
)

// Options say how connections are served. All are required, but for TLS.
type Options struct {
	// MaxConnections are those that are open, MaxPerAddress those of one client that is not on this
	// machine.
	MaxConnections, MaxPerAddress int
	// HandshakeTimeout is for the handshake of TLS, ReadTimeout for one whole request, IdleTimeout for
	// the time between two, WriteTimeout for one write to a client.
	HandshakeTimeout, ReadTimeout, IdleTimeout, WriteTimeout time.Duration
	TLS                                                      *tls.Config // nil: no TLS
	// ClientCAs returns the authorities that a handshake names when it asks for a client certificate; nil names none.
	// A change of them is another pool.
	ClientCAs func() *x509.CertPool
	Log       *slog.Logger
	// HTTP2MaxStreams is how many requests a client may have under way on a connection with HTTP/2, which is offered by TLS. 0: there is no HTTP/2.
	HTTP2MaxStreams int
	// NewHandler makes what answers the requests of a connection.
	NewHandler func(*Conn) Handler
}

// A Handler answers the requests of one connection, one after the other.
type Handler interface {
	// ServeRequest answers a request of which the head is read. Its body is read by Conn.ReadBody.
	ServeRequest(ctx *fasthttp.RequestCtx)
	// RejectHead answers a request of which the head could not be read.
	RejectHead(ctx *fasthttp.RequestCtx, err error)
	// ReplaceUnwritable makes an answer that could not be written one that says so.
	ReplaceUnwritable(r *fasthttp.Response)
}
