package connect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A Locator finds the targets of connections to Pods, Services, Nodes and containers. It is safe
// for concurrent use.
type Locator struct {
	// Objects reads Pods, Services and Nodes.
	Objects policy.Objects
	// EndpointSlices returns the EndpointSlices of a Service.
	EndpointSlices func(ctx context.Context, namespace, service string) ([]tree.Tree, error)
	// Kubelets connects to kubelets.
	Kubelets *Kubelets
	// Members connects to Pods, and to Nodes on ports other than the kubelet's.
	Members *proxy.Backend
}

// Close closes idle connections.
func (l *Locator) Close() {
	l.Kubelets.Close()
	l.Members.Close()
}

// A Request describes the Pod, Service or Node that the client connects to.
type Request struct {
	Namespace string
	Name      string // of the object; for proxy, scheme:name:port with optional scheme and port
	// Path is the decoded path after the proxy subresource. RawPath is that path as the client
	// escaped it. Query is the raw query string.
	Path, RawPath, Query string
	// Options are the connect options after admission.
	Options tree.Tree
}

var (
	podsResource     = meta.GroupResource{Resource: "pods"}
	nodesResource    = meta.GroupResource{Resource: "nodes"}
	servicesResource = meta.GroupResource{Resource: "services"}
)

// errAddressNotAllowed rejects a target address without disclosing it.
var errAddressNotAllowed = meta.NewBadRequest("address not allowed")

func (l *Locator) get(r meta.GroupResource, namespace, name string) (tree.Tree, error) {
	o := l.Objects.Get(r, namespace, name)
	if o == nil {
		return nil, meta.NewNotFound(r, name)
	}
	return o.Tree, nil
}

// splitName splits scheme:name:port, name:port, or name. The port may be a port name.
func splitName(text, what string) (scheme, name, port string, err error) {
	parts := strings.Split(text, ":")
	// Names with more colons, such as IPv6 addresses, are not accepted.
	switch len(parts) {
	case 1:
		name = parts[0]
	case 2:
		name, port = parts[0], parts[1]
	case 3:
		scheme, name, port = parts[0], parts[1], parts[2]
	}
	if name == "" || scheme != "" && scheme != "http" && scheme != "https" {
		return "", "", "", meta.NewBadRequest(fmt.Sprintf("invalid %s request %q", what, text))
	}
	return scheme, name, port, nil
}

// isAllowed reports whether the server may connect to an address. It rejects loopback and
// link-local addresses, because services there, such as cloud metadata services, often trust all
// clients.
func isAllowed(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsGlobalUnicast()
}

// DialMember connects to a Pod or Node if its IP address is allowed. It checks the address at dial
// time, because an earlier check of the hostname may have resolved to a different address.
func DialMember(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !isAllowed(at.Addr().Unmap().WithZone("").String()) {
			return errAddressNotAllowed
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// Proxy returns the backend for a request to the proxy subresource of a Pod, Service or Node.
func (l *Locator) Proxy(ctx context.Context, resource string, r Request) (*proxy.Target, error) {
	var at *url.URL
	var err error
	backend := l.Members
	switch resource {
	case "pods":
		at, err = l.pod(r)
	case "services":
		at, err = l.service(ctx, r)
	case "nodes":
		at, backend, err = l.node(ctx, r)
	default:
		err = meta.NewMethodNotAllowed()
	}
	if err != nil {
		return nil, err
	}
	if at.Scheme == "" {
		at.Scheme = "http"
	}
	at.Path, at.RawPath, at.RawQuery = r.Path, r.RawPath, r.Query
	return &proxy.Target{URL: at, Backend: backend}, nil
}

// pod returns the URL of the Pod's requested port, or of its first declared port.
func (l *Locator) pod(r Request) (*url.URL, error) {
	scheme, name, port, err := splitName(r.Name, "pod")
	if err != nil {
		return nil, err
	}
	pod, err := l.get(podsResource, r.Namespace, name)
	if err != nil {
		return nil, err
	}
	if port == "" {
		port = firstPort(pod)
	}
	address := ""
	if all := podAddresses(pod); len(all) > 0 {
		address = all[0]
	}
	// A Pod without an address is also rejected.
	if !isAllowed(address) {
		return nil, errAddressNotAllowed
	}
	return &url.URL{Scheme: scheme, Host: joinHostPort(address, port)}, nil
}

func joinHostPort(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	return strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
}

func firstPort(pod tree.Tree) string {
	for _, c := range pod.Object("spec").Objects("containers") {
		for _, p := range c.Objects("ports") {
			n, _ := p.Int("containerPort")
			return strconv.FormatInt(n, 10)
		}
	}
	return ""
}

func podAddresses(pod tree.Tree) (all []string) {
	for _, ip := range pod.Object("status").Objects("podIPs") {
		all = append(all, ip.String("ip"))
	}
	return all
}

// service returns the URL of a random ready endpoint of a Service, preferably in its primary IP
// family. The requested port is a name or number in the Service, not a container port.
func (l *Locator) service(ctx context.Context, r Request) (*url.URL, error) {
	scheme, name, port, err := splitName(r.Name, "service")
	if err != nil {
		return nil, err
	}
	// Look up a port number in the Service, because EndpointSlices contain only port names, which
	// may be empty.
	service, missing := l.get(servicesResource, r.Namespace, name)
	if n, err := strconv.ParseInt(port, 10, 64); err == nil {
		if missing != nil {
			return nil, missing
		}
		var ok bool
		if port, ok = portName(service, n); !ok {
			return nil, meta.NewServiceUnavailable(fmt.Sprintf("no service port %d found for service %q", n, name))
		}
	}
	found, err := l.EndpointSlices(ctx, r.Namespace, name)
	if err != nil {
		return nil, err
	}
	// Shuffle, so that clients do not always try the same endpoint first. It may be unreachable.
	families := append(service.Object("spec").Strings("ipFamilies"), "")
	for _, primary := range []bool{true, false} {
		for _, i := range rand.Perm(len(found)) {
			if (found[i].String("addressType") == families[0]) != primary {
				continue
			}
			if host := l.endpoint(found[i], r.Namespace, port); host != "" {
				return &url.URL{Scheme: scheme, Host: host}, nil
			}
		}
	}
	return nil, meta.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
}

func portName(service tree.Tree, number int64) (name string, ok bool) {
	for _, p := range service.Object("spec").Objects("ports") {
		if n, _ := p.Int("port"); n == number {
			return p.String("name"), true
		}
	}
	return "", false
}

// endpoint returns the host:port of a random ready endpoint of an EndpointSlice, for the named
// port. It returns "" if no ready endpoint has the address of its Pod.
func (l *Locator) endpoint(slice tree.Tree, namespace, port string) string {
	endpoints := slice.Objects("endpoints")
	for _, p := range slice.Objects("ports") {
		number, ok := p.Int("port")
		if !ok || p.String("name") != port {
			continue
		}
		for _, i := range rand.Perm(len(endpoints)) {
			e := endpoints[i]
			ready, known := e.Object("conditions")["ready"].(bool)
			if addresses := e.Strings("addresses"); (ready || !known) && len(addresses) > 0 && l.isPod(e, addresses[0], namespace) {
				return net.JoinHostPort(addresses[0], strconv.FormatInt(number, 10))
			}
		}
	}
	return ""
}

// isPod reports whether an endpoint has the address of the Pod that it references. Without this
// check, users who can write EndpointSlices could make the server connect to any address.
func (l *Locator) isPod(endpoint tree.Tree, address, namespace string) bool {
	of := endpoint.Object("targetRef")
	if of == nil || of.String("namespace") != namespace {
		return false
	}
	pod, err := l.get(podsResource, namespace, of.String("name"))
	return err == nil && slices.Contains(podAddresses(pod), address)
}

// node returns the URL of a Node's port. The default is the kubelet port.
func (l *Locator) node(ctx context.Context, r Request) (*url.URL, *proxy.Backend, error) {
	scheme, name, port, err := splitName(r.Name, "node")
	if err != nil {
		return nil, nil, err
	}
	host, kubeletPort, err := l.kubelet(name)
	if err != nil {
		return nil, nil, err
	}
	// Without this check, users who can write a Node's status could make the server connect to
	// itself or to local services.
	if err := checkHost(ctx, host); err != nil {
		return nil, nil, err
	}
	// Only the kubelet may receive the server's client certificate.
	if port == "" || port == kubeletPort {
		return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, kubeletPort)}, l.Kubelets.Proxied, nil
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}, l.Members, nil
}

func checkHost(ctx context.Context, host string) error {
	all, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	switch {
	case err != nil:
		return meta.NewBadRequest(err.Error())
	case len(all) == 0:
		return meta.NewBadRequest("no addresses for hostname")
	}
	for _, a := range all {
		if !a.IP.IsGlobalUnicast() {
			return errAddressNotAllowed
		}
	}
	return nil
}
