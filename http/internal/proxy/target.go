package proxy

import (
	"iter"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/valyala/fasthttp"
)

// A Target says where a request goes and how it is changed. URL and Backend are required.
type Target struct {
	// URL has the scheme, host, path, and raw query.
	URL     *url.URL
	Backend *Backend
	// UseHost replaces the client's Host header by the URL's.
	UseHost bool
	// EditHeader, if set, edits the request header after hop-by-hop headers and credentials were
	// removed.
	EditHeader func(http.Header)
	// EditResponse, if set, edits a response before it is forwarded, or returns an error to send
	// instead. It does not apply to 101 responses.
	EditResponse func(*http.Response) error
	// RefuseRedirects responds 502 to redirects.
	RefuseRedirects bool
	// UpgradeRequired refuses requests without an upgrade.
	UpgradeRequired bool
	// IgnoreUpgrade treats an upgrade as a plain request.
	IgnoreUpgrade bool
	// Messages, if set, sends the body of a 200 response over a WebSocket.
	Messages *Messages
	// Translator, if set, translates between the upgrade protocols of client and backend.
	Translator Translator
	// Fault returns the error response if the backend is unreachable or its response unusable. nil
	// is 503, "error trying to reach service: ...".
	Fault func(err error) error
	// UpgradeFault is Fault for upgrades. nil is 500 with the error's text.
	UpgradeFault func(err error) error
}

// A Request is the part of the client's request that is forwarded.
type Request struct {
	Method string
	// Head is the client's header, Headers the part of it that may be forwarded.
	Head    *fasthttp.RequestHeader
	Headers iter.Seq2[string, string]
	// ClientAddr is added to X-Forwarded-For unless zero.
	ClientAddr netip.Addr
	// Protocols replace the WebSocket subprotocols, one of which may be a token. nil means none.
	Protocols []string
	// Answer has the headers that the front adds to every response.
	Answer *fasthttp.ResponseHeader
}
