package connect

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// KubeletOptions configures connections to kubelets.
type KubeletOptions struct {
	// TLS contains the CAs and the client certificate. If nil, certificates are not verified.
	TLS *tls.Config
	// AddressTypes lists the types of Node addresses to use, in order of preference.
	AddressTypes []string
	// Port is used for Nodes that report no kubelet port.
	Port int
	// DialTimeout limits the time to connect to a kubelet.
	DialTimeout time.Duration
}

// Kubelets holds the connection pools for the kubelets of all Nodes.
type Kubelets struct {
	// Trusted verifies the kubelet's certificate, and Unverified does not. Proxied is for the
	// subresource proxy: it verifies the certificate and connects only to allowed addresses.
	Trusted, Unverified, Proxied *proxy.Backend
	addressTypes                 []string
	port                         string
}

// NewKubelets returns connection pools for the options.
func NewKubelets(o KubeletOptions) *Kubelets {
	secure := cmp.Or(o.TLS, &tls.Config{InsecureSkipVerify: true})
	unverified := secure.Clone()
	// The client certificate is still sent, because it authenticates the server to the kubelet.
	unverified.InsecureSkipVerify, unverified.VerifyConnection = true, nil
	return &Kubelets{
		Trusted:      proxy.NewBackend(proxy.BackendOptions{TLS: secure, DialTimeout: o.DialTimeout}),
		Unverified:   proxy.NewBackend(proxy.BackendOptions{TLS: unverified, DialTimeout: o.DialTimeout}),
		Proxied:      proxy.NewBackend(proxy.BackendOptions{TLS: secure, DialTimeout: o.DialTimeout, Dial: DialMember}),
		addressTypes: o.AddressTypes, port: strconv.Itoa(o.Port),
	}
}

// Close closes idle connections.
func (k *Kubelets) Close() {
	k.Trusted.Close()
	k.Unverified.Close()
	k.Proxied.Close()
}

func (l *Locator) kubelet(node string) (host, port string, err error) {
	o, err := l.get(nodesResource, "", node)
	if err != nil {
		return "", "", err
	}
	status := o.Object("status")
	addresses := status.Objects("addresses")
	// Try the address types in the configured order. For example, a Node's hostname may resolve
	// only in some networks.
	for _, wanted := range l.Kubelets.addressTypes {
		for _, a := range addresses {
			if a.String("type") != wanted {
				continue
			}
			// Prefer the kubelet port in the Node's status, which a manually created Node may lack.
			if n, _ := status.Object("daemonEndpoints", "kubeletEndpoint").Int("Port"); n > 0 {
				return a.String("address"), strconv.FormatInt(n, 10), nil
			}
			return a.String("address"), l.Kubelets.port, nil
		}
	}
	// The usual cause is that no address has a configured type, so the error lists the addresses.
	known := make([]string, len(addresses))
	for i, a := range addresses {
		known[i] = "{" + a.String("type") + " " + a.String("address") + "}"
	}
	return "", "", internal(fmt.Sprintf("no preferred addresses found; known addresses: [%s]", strings.Join(known, " ")))
}

func internal(message string) *meta.Status { return &meta.Status{Code: 500, Message: message} }

// Stream returns the kubelet URL for exec, attach, or portforward.
func (l *Locator) Stream(_ context.Context, subresource string, r Request) (*proxy.Target, error) {
	pod, err := l.get(podsResource, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	path, query := "/portForward/"+r.Namespace+"/"+r.Name, url.Values{}
	if subresource == "portforward" {
		if ports, ok := r.Options["ports"].([]any); ok {
			var texts []string
			for _, p := range ports {
				texts = append(texts, fmt.Sprint(p))
			}
			query.Set("port", strings.Join(texts, ","))
		}
	} else {
		container, err := chooseContainer(r.Name, pod, r.Options.String("container"))
		if err != nil {
			return nil, err
		}
		// The kubelet API uses other names for these options, for example input for stdin.
		path = "/" + subresource + "/" + r.Namespace + "/" + r.Name + "/" + container
		for option, parameter := range map[string]string{"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"} {
			if r.Options.Bool(option) {
				query.Set(parameter, "1")
			}
		}
		for _, word := range r.Options.Strings("command") {
			query.Add("command", word)
		}
	}
	// Check the container before the Node, so that an invalid container name is reported even if
	// the Pod has no Node yet.
	node := pod.Object("spec").String("nodeName")
	if node == "" {
		return nil, meta.NewBadRequest(fmt.Sprintf("pod %s does not have a host assigned", r.Name))
	}
	at, err := l.kubeletURL(node, path, query)
	if err != nil {
		return nil, err
	}
	return &proxy.Target{URL: at, Backend: l.Kubelets.Trusted, UpgradeRequired: true}, nil
}

func (l *Locator) kubeletURL(node, path string, query url.Values) (*url.URL, error) {
	host, port, err := l.kubelet(node)
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, port), Path: path, RawQuery: query.Encode()}, nil
}

// chooseContainer returns the requested container, or the only container if none is requested.
func chooseContainer(name string, pod tree.Tree, wanted string) (string, error) {
	spec := pod.Object("spec")
	var all []string
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range spec.Objects(list) {
			all = append(all, c.String("name"))
		}
	}
	switch main := spec.Objects("containers"); {
	case wanted != "" && !slices.Contains(all, wanted):
		return "", meta.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", wanted, name))
	case wanted != "":
		return wanted, nil
	case len(main) == 0:
		return "", meta.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s", name))
	case len(main) > 1:
		return "", meta.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %s", name, all))
	default:
		return main[0].String("name"), nil
	}
}
