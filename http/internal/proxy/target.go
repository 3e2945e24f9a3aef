package proxy

import (
	"iter"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/valyala/fasthttp"
)

// A Target describes a request's backend and the changes to the request. URL and Backend are
// required.
type Target struct {
	// URL contains the scheme, host, path, and raw query.
	URL     *url.URL
	Backend *Backend
	// UseHost replaces the client's Host header with the URL's host.
	UseHost bool
	// EditHeader, if set, edits the request headers after hop-by-hop headers and credentials have
	// been removed.
	EditHeader func(http.Header)
	// EditResponse, if set, edits a response before it is forwarded, or returns an error to send
	// instead. It is not called for 101 responses.
	EditResponse func(*http.Response) error
	// RefuseRedirects replaces redirects with a 502.
	RefuseRedirects bool
	// UpgradeRequired rejects requests without an upgrade.
	UpgradeRequired bool
	// IgnoreUpgrade forwards an upgrade request as a plain request.
	IgnoreUpgrade bool
	// Messages, if set, sends the body of a 200 response to a WebSocket client.
	Messages *Messages
	// Translator, if set, translates between the upgrade protocols of client and backend.
	Translator Translator
	// Fault returns the error response for an unreachable backend or an unusable response. The
	// default is a 503, "error trying to reach service: ...".
	Fault func(err error) error
	// UpgradeFault is like Fault, for upgrades. The default is a 500 with the text of the error.
	UpgradeFault func(err error) error
}

// A Request is the part of the client's request that is forwarded.
type Request struct {
	Method string
	// Head contains the client's headers. Headers iterates over those that may be forwarded.
	Head    *fasthttp.RequestHeader
	Headers iter.Seq2[string, string]
	// ClientAddr is appended to X-Forwarded-For if it is valid.
	ClientAddr netip.Addr
	// Protocols replaces the client's WebSocket subprotocols, which may include a token. If
	// empty, no subprotocol is requested.
	Protocols []string
	// Answer contains the headers that this server adds to every response.
	Answer *fasthttp.ResponseHeader
}
