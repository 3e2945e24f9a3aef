package http

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/troupe-api/troupe/http/internal/connect"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/http/internal/translate"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authz"
)

// KubeletOptions configures connections to kubelets.
type KubeletOptions = connect.KubeletOptions

// newLocator returns a Locator for connections to Pods, Services and Nodes. Pod certificates are
// not verified, because Pods are addressed only by IP.
func (s *Server) newLocator(objects policy.Objects, kubelets KubeletOptions) *connect.Locator {
	return &connect.Locator{
		Objects: objects, EndpointSlices: s.endpointSlices,
		Kubelets: connect.NewKubelets(kubelets), Members: proxy.NewUnverifiedBackend(connect.DialMember),
	}
}

// endpointSlices returns the EndpointSlices of a Service, or nil if the resource is not served.
func (s *Server) endpointSlices(ctx context.Context, namespace, service string) ([]tree.Tree, error) {
	k := s.opts.Catalog.Kind(s.opts.Naming.Group("discovery"), "v1", "endpointslices")
	if k == nil || len(rules.LabelValue(service)) > 0 { // only label values are names of Services
		return nil, nil
	}
	labels, err := selector.ParseLabels(s.opts.Naming.Translate("platform.io/service-name") + "=" + service)
	if err != nil {
		return nil, err
	}
	listing, err := s.opts.Store.List(ctx, request.List{Kind: k, Namespace: namespace, Labels: labels, Match: request.MatchMostRecent})
	if err != nil {
		return nil, err
	}
	found := make([]tree.Tree, len(listing.Items))
	for i, o := range listing.Items {
		if found[i], err = codec.DecodeStored(k.Message(), o.JSON); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s *Server) connect(x *requestContext) error {
	if gauge := s.opts.MemoryMonitor; gauge != nil && gauge.UnderPressure() && !x.permit.Reserved {
		s.memoryRefused.Inc()
		return memoryPressure()
	}
	if s.locator == nil {
		return meta.NewServiceUnavailable("the server does not connect to members of a cluster")
	}
	path, rawPath := x.target.Behind(x.info.Segments())
	options, err := connect.Options(x.subresource.Name, x.target.Query, path)
	if err != nil {
		return err
	}
	if x.subresource.Kind.Kind != "" {
		if err := s.admitConnection(x, options); err != nil {
			return err
		}
	}
	if err := s.requireCreateOfStream(x); err != nil {
		return err
	}
	r := connect.Request{Namespace: x.info.Namespace, Name: x.info.Name, Path: path, RawPath: rawPath, Query: string(x.target.Query), Options: options}
	switch x.subresource.Name {
	case "proxy":
		return s.proxyToMember(x, r)
	case "log":
		return s.readLog(x, r)
	}
	return s.openStream(x, r)
}

func (s *Server) admitConnection(x *requestContext, options tree.Tree) error {
	if x.target.Query.Get("dryRun") != "" {
		return meta.NewBadRequest("dryRun is not supported")
	}
	m := s.newMutation(x, request.Connect{}, params.Write{})
	reserved, err := m.AdmitOperation(x.deadlineCtx, options, func() error { return nil })
	x.addRecorded(m.Recorder)
	if err != nil {
		return err
	}
	reserved.Commit()
	return nil
}

// requireCreateOfStream requires the verb create for exec, attach and portforward, even for the
// GET of a WebSocket client.
func (s *Server) requireCreateOfStream(x *requestContext) error {
	if x.info.Verb == "create" || x.subresource.Name == "proxy" || x.subresource.Name == "log" {
		return nil
	}
	a := x.attributes
	a.Verb = "create"
	if decision, reason := s.decide(x, a); decision != authz.Allow {
		return a.Forbidden(reason)
	}
	return nil
}

func (s *Server) proxyToMember(x *requestContext, r connect.Request) error {
	upgrade := x.headerFlags.Upgrade && proxy.UpgradeOf(&x.ctx.Request.Header) != ""
	t, err := s.locator.Proxy(x.deadlineCtx, x.info.Resource, r)
	if err != nil {
		return err
	}
	if r.Path == "" && !upgrade && (x.info.Method == "GET" || x.info.Method == "HEAD") {
		return s.redirectToRoot(x)
	}
	prefix := strings.TrimSuffix(x.target.Path, r.Path)
	forwarded := strings.TrimSuffix(x.target.RawPath(), r.RawPath) + r.RawPath
	t.EditHeader = func(h http.Header) { h.Set("X-Forwarded-Uri", forwarded) }
	t.EditResponse = connect.Rewriter{Prefix: prefix, Target: t.URL, Host: string(x.ctx.Host())}.Edit
	return s.proxy(x, t)
}

// redirectToRoot adds a trailing slash to the path, so that relative links in the proxied page
// work.
func (s *Server) redirectToRoot(x *requestContext) error {
	to := x.target.RawPath() + "/"
	if x.target.Query != "" {
		to += "?" + string(x.target.Query)
	}
	x.setHeader("Location", to)
	x.ctx.SetStatusCode(http.StatusMovedPermanently)
	return nil
}

func (s *Server) readLog(x *requestContext, r connect.Request) error {
	t, err := s.locator.Log(r)
	if err != nil {
		return err
	}
	if t == nil {
		x.ctx.SetStatusCode(http.StatusNoContent)
		return nil
	}
	if t.Messages, err = s.messages(x); err != nil {
		return err
	}
	return s.proxy(x, t)
}

// The WebSocket subprotocols for log streams. The first one is the default.
const (
	binaryProtocol = "binary.k8s.io"
	base64Protocol = "base64.binary.k8s.io"
)

// messages returns the WebSocket framing and handshake headers for a log response, or nil if the
// client did not request a WebSocket.
func (s *Server) messages(x *requestContext) (*proxy.Messages, error) {
	h := &x.ctx.Request.Header
	if !x.headerFlags.Upgrade || !stream.WantsWebSocket(h) {
		return nil, nil
	}
	accept, err := stream.WebSocketAccept(h)
	if err != nil {
		return nil, err
	}
	offered, _, err := stream.WebSocketProtocols(h, s.names.BearerProtocol)
	if err != nil {
		return nil, meta.NewBadRequest(err.Error())
	}
	m := &proxy.Messages{Header: http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Sec-Websocket-Accept": {accept}}}
	if len(offered) == 0 {
		return m, nil
	}
	for _, p := range offered {
		if p == binaryProtocol || p == base64Protocol {
			m.Base64 = p == base64Protocol
			m.Header.Set("Sec-WebSocket-Protocol", p)
			return m, nil
		}
	}
	return nil, meta.NewBadRequest(fmt.Sprintf("requested protocol(s) are not supported: %v; supports [%s %s]", offered, binaryProtocol, base64Protocol))
}

func (s *Server) openStream(x *requestContext, r connect.Request) error {
	t, err := s.locator.Stream(x.deadlineCtx, x.subresource.Name, r)
	if err != nil {
		return err
	}
	if t.Translator, err = s.translator(x, r.Options); err != nil {
		return err
	}
	return s.proxy(x, t)
}

// translator returns a Translator if a WebSocket client uses a protocol that container runtimes
// do not support, and otherwise nil.
func (s *Server) translator(x *requestContext, options tree.Tree) (proxy.Translator, error) {
	h := &x.ctx.Request.Header
	if !x.headerFlags.Upgrade || !stream.WantsWebSocket(h) {
		return nil, nil
	}
	offered, _, err := stream.WebSocketProtocols(h, s.names.BearerProtocol)
	if err != nil {
		return nil, meta.NewBadRequest(err.Error())
	}
	if x.subresource.Name == "portforward" {
		return translate.Ports(h, offered)
	}
	return translate.Commands(h, offered, translate.Streams{
		Stdin: options.Bool("stdin"), Stdout: options.Bool("stdout"), Stderr: options.Bool("stderr"), TTY: options.Bool("tty"),
	})
}
