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

// A Locator finds the targets of requests. Many goroutines may use it.
type Locator struct {
	// Objects is how the cluster is read.
	Objects policy.Objects
	// EndpointSlices returns those of a Service.
	EndpointSlices func(ctx context.Context, namespace, service string) ([]tree.Tree, error)
	// Kubelets are the agents of Nodes.
	Kubelets *Kubelets
	// Members is how Pods, and other ports of Nodes, are reached.
	Members *proxy.Backend
}

// Close closes the connections that are kept.
func (l *Locator) Close() {
	l.Kubelets.Close()
	l.Members.Close()
}

// A Request is what a target is wanted for.
type Request struct {
	Namespace string
	Name      string // of the object; for the verb proxy scheme:name:port, of which only the name must be there
	// Path is that behind the sub-resource proxy, decoded, and RawPath as it came. Query is the raw query.
	Path, RawPath, Query string
	// Options are those that were admitted.
	Options tree.Tree
}

// The resources that a target is looked up in, in platform form.
var (
	podsResource     = meta.GroupResource{Resource: "pods"}
	nodesResource    = meta.GroupResource{Resource: "nodes"}
	servicesResource = meta.GroupResource{Resource: "services"}
)

// errAddressNotAllowed refuses a target whose address is not allowed. It does not name the address.
var errAddressNotAllowed = meta.NewBadRequest("address not allowed")

// get is an object, or the answer that there is none.
func (l *Locator) get(r meta.GroupResource, namespace, name string) (tree.Tree, error) {
	o := l.Objects.Get(r, namespace, name)
	if o == nil {
		return nil, meta.NewNotFound(r, name)
	}
	return o.Tree, nil
}

// splitName cuts scheme:name:port, name:port or name. A port need not be a number.
func splitName(text, what string) (scheme, name, port string, err error) {
	parts := strings.Split(text, ":")
	// More than two colons are no name. They could be an IPv6 address, to which nobody is proxied by its address.
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

// isAllowed tells whether the server may be made to connect to an address.
// Loopback and link-local addresses are not: there are services of the machine, and of its cloud, that trust whoever
// reaches them.
func isAllowed(address string) bool {
	ip := net.ParseIP(address)
	return ip != nil && ip.IsGlobalUnicast()
}

// DialMember connects to a member of the cluster, at no address but those that are allowed.
// The check is made on the address that is connected to, after names were resolved: a name could stand for an allowed
// address when it is checked, and for another one when it is used.
func DialMember(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !isAllowed(at.Addr().Unmap().WithZone("").String()) {
			return errAddressNotAllowed
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// Proxy is the target of a request with the verb proxy, by the resource.
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
	// The raw path goes along, or what was escaped would come out otherwise at the other end.
	at.Path, at.RawPath, at.RawQuery = r.Path, r.RawPath, r.Query
	return &proxy.Target{URL: at, Backend: backend}, nil
}

// pod is where a port of a Pod is: that which the request names, or the first one that the Pod declares.
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
	// A Pod that has no address yet is refused like one whose address is not allowed.
	if !isAllowed(address) {
		return nil, errAddressNotAllowed
	}
	return &url.URL{Scheme: scheme, Host: joinHostPort(address, port)}, nil
}

// joinHostPort is net.JoinHostPort for a port that may be missing.
func joinHostPort(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	return strings.TrimSuffix(net.JoinHostPort(host, ""), ":")
}

// firstPort is the first port that a container of a Pod declares; "" if none does.
func firstPort(pod tree.Tree) string {
	for _, c := range pod.Object("spec").Objects("containers") {
		for _, p := range c.Objects("ports") {
			n, _ := p.Int("containerPort")
			return strconv.FormatInt(n, 10)
		}
	}
	return ""
}

// podAddresses are the addresses of a Pod, the main one first.
func podAddresses(pod tree.Tree) (all []string) {
	for _, ip := range pod.Object("status").Objects("podIPs") {
		all = append(all, ip.String("ip"))
	}
	return all
}

// service returns the address of a random ready endpoint of a Service.
// The port in the request is the name of a port, or its number at the Service, not at the Pods.
func (l *Locator) service(ctx context.Context, r Request) (*url.URL, error) {
	scheme, name, port, err := splitName(r.Name, "service")
	if err != nil {
		return nil, err
	}
	// EndpointSlices know ports by name only, so a number is looked up in the Service, and its port's name may be empty.
	if n, err := strconv.ParseInt(port, 10, 64); err == nil {
		service, err := l.get(servicesResource, r.Namespace, name)
		if err != nil {
			return nil, err
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
	// At random, since there is no state by which load could be shared, and a dead endpoint must not be everybody's first.
	for _, i := range rand.Perm(len(found)) {
		if host := l.endpoint(found[i], r.Namespace, port); host != "" {
			return &url.URL{Scheme: scheme, Host: host}, nil
		}
	}
	return nil, meta.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", name))
}

// portName is the name of a port of a Service, which may be "".
func portName(service tree.Tree, number int64) (name string, ok bool) {
	for _, p := range service.Object("spec").Objects("ports") {
		if n, _ := p.Int("port"); n == number {
			return p.String("name"), true
		}
	}
	return "", false
}

// endpoint returns a ready address of an EndpointSlice with a port of that name, or "" if none of them is that of a Pod.
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

// isPod reports whether an endpoint has the address of the Pod that it names. Without that check, a user who can write
// EndpointSlices could make the server connect to any address.
func (l *Locator) isPod(endpoint tree.Tree, address, namespace string) bool {
	of := endpoint.Object("targetRef")
	if of == nil || of.String("namespace") != namespace {
		return false
	}
	pod, err := l.get(podsResource, namespace, of.String("name"))
	return err == nil && slices.Contains(podAddresses(pod), address)
}

// node is where a port of a Node is: that of its agent, unless the request names another one.
func (l *Locator) node(ctx context.Context, r Request) (*url.URL, *proxy.Backend, error) {
	scheme, name, port, err := splitName(r.Name, "node")
	if err != nil {
		return nil, nil, err
	}
	host, kubeletPort, err := l.kubelet(name)
	if err != nil {
		return nil, nil, err
	}
	// Whoever may write the status of a Node could else lead the server to itself, or to services of the machine it runs on.
	if err := checkHost(ctx, host); err != nil {
		return nil, nil, err
	}
	// The agent gets the server's certificate, other ports of the Node do not: who listens there is not known.
	if port == "" || port == kubeletPort {
		return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, kubeletPort)}, l.Kubelets.Proxied, nil
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}, l.Members, nil
}

// checkHost refuses a name that stands for an address to which nothing is proxied.
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
