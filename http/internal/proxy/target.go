package proxy

import (
	"iter"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/valyala/fasthttp"
)

// A Target says where one request goes, and what is changed on the way. URL and Backend are required.
type Target struct {
	// URL is what is asked for: scheme, host, path and raw query.
	URL     *url.URL
	Backend *Backend
	// UseHost replaces the Host header of the client by that of URL.
	UseHost bool
	// EditHeader changes the headers of the request, after those that are never passed on have gone; nil: it stays so.
	EditHeader func(http.Header)
	// EditResponse changes an answer before any of it is passed on, or refuses it by an error, which takes its place;
	// nil: it stays as it is. The answer to an upgrade is not changed.
	EditResponse func(*http.Response) error
	// RefuseRedirects answers 502 in place of a redirect.
	RefuseRedirects bool
	// UpgradeRequired refuses what is no upgrade.
	UpgradeRequired bool
	// IgnoreUpgrade takes an upgrade for a plain request.
	IgnoreUpgrade bool
	// Messages, if set, are how the body of an answer that is no error goes to a client that wants a WebSocket.
	Messages *Messages
	// Translator, if set, speaks another protocol with a client that is upgraded than the backend does.
	Translator Translator
	// Fault is the answer where the backend could not be reached, or has answered nothing that can be passed on; nil
	// is 503, "error trying to reach service: ...".
	Fault func(err error) error
	// UpgradeFault is the answer where an upgrade has failed so; nil is 500 with the text of the error.
	UpgradeFault func(err error) error
}

// A Request is what a client asks for, as far as it is passed on.
type Request struct {
	Method string
	// Head is what the client has sent, and Headers those of it that may be passed on.
	Head    *fasthttp.RequestHeader
	Headers iter.Seq2[string, string]
	// ClientAddr is added to X-Forwarded-For; the zero value is not.
	ClientAddr netip.Addr
	// Protocols replace the sub-protocols of a WebSocket, for one of them may be a token; nil: there are none.
	Protocols []string
	// Answer has the headers that the front gives to every answer.
	Answer *fasthttp.ResponseHeader
}
