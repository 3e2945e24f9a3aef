package client

import (
	"net/http"
	"os"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TROUPE_HTTP=2 lets all servers of a suite speak HTTP/2, and clients ask by it.

// overHTTP2 tells whether a suite runs over HTTP/2.
func overHTTP2() bool { return os.Getenv("TROUPE_HTTP") == "2" }

// SpeakHTTP2 lets a server offer HTTP/2.
func SpeakHTTP2(c *daemon.Config) { c.Serving.DisableHTTP2 = false }

// HTTP2 is a client of the same server that asks by HTTP/2.
func (c *Client) HTTP2() *Client {
	transport := c.transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = true
	over := *c
	over.transport = transport
	return &over
}
