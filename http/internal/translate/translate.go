package translate

import (
	"net"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/http/internal/stream"
)

const (
	commandProtocol = "v5.channel.k8s.io" // of clients
	streamProtocol  = "v4.channel.k8s.io" // of runtimes
	tunnelPrefix    = "SPDY/3.1+"
	tunnelSuffix    = ".k8s.io"
	spdy            = "SPDY/3.1"
)

type handshake struct {
	accept    string   // Sec-WebSocket-Accept
	protocols []string // to offer to the backend
}

func newHandshake(h *fasthttp.RequestHeader, protocols []string) (handshake, error) {
	if string(h.Peek("Sec-WebSocket-Version")) != "13" {
		return handshake{}, apierrors.BadRequest("the WebSocket version is not supported: use 13")
	}
	accept, err := stream.WebSocketAccept(h)
	return handshake{accept, protocols}, err
}

func (s handshake) Ask(h http.Header) string {
	for name := range h {
		if strings.HasPrefix(name, "Sec-Websocket-") {
			h.Del(name)
		}
	}
	h["X-Stream-Protocol-Version"] = s.protocols
	return spdy
}

func (s handshake) answer(protocol string) http.Header {
	h := http.Header{"Upgrade": {"websocket"}, "Sec-Websocket-Accept": {s.accept}}
	if protocol != "" {
		h.Set("Sec-Websocket-Protocol", protocol)
	}
	return h
}

// Ports returns a translator for port forwarding if the client offers the tunneling protocol, and
// nil otherwise.
func Ports(h *fasthttp.RequestHeader, offered []string) (proxy.Translator, error) {
	var protocols []string
	for _, p := range offered {
		if inner, ok := strings.CutPrefix(p, tunnelPrefix); ok && strings.HasSuffix(p, tunnelSuffix) {
			protocols = append(protocols, inner)
		}
	}
	if protocols == nil {
		return nil, nil
	}
	s, err := newHandshake(h, protocols)
	return ports{s}, err
}

type ports struct{ handshake }

func (p ports) Agree(backend http.Header) (http.Header, error) {
	protocol := strings.TrimSpace(backend.Get("X-Stream-Protocol-Version"))
	if protocol != "" {
		protocol = tunnelPrefix + protocol
	}
	return p.answer(protocol), nil
}

func (ports) Run(client, backend net.Conn) { proxy.CopyBoth(newMessages(client), backend) }
