package client

import (
	"net/http"
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// overHTTP2 reports whether all servers and clients of the suite use HTTP/2 (TROUPE_HTTP=2).

func overHTTP2() bool { return os.Getenv("TROUPE_HTTP") == "2" }

// SpeakHTTP2 enables HTTP/2 for a server.
func SpeakHTTP2(c *daemon.Config) { c.Serving.DisableHTTP2 = false }

// HTTP2 returns a Client for the same server that uses HTTP/2.
func (c *Client) HTTP2() *Client {
	transport := c.transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = true
	over := *c
	over.transport = transport
	return &over
}
