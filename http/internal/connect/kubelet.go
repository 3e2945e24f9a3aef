package connect

import (
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

// KubeletOptions say how the agents of Nodes are reached.
type KubeletOptions struct {
	// TLS says whom to trust, and what to prove oneself with; nil: anybody is trusted.
	TLS *tls.Config
	// AddressTypes are the types of the addresses of a Node to use, the best first.
	AddressTypes []string
	// Port is where the agent of a Node listens that does not say so.
	Port int
	// DialTimeout is for making a connection.
	DialTimeout time.Duration
}

// Kubelets are the agents of Nodes.
type Kubelets struct {
	// Trusted is how they are reached, Unverified without knowing who they are, and Proxied for the verb proxy.
	Trusted, Unverified, Proxied *proxy.Backend
	addressTypes                 []string
	port                         string
}

// NewKubelets makes what reaches the agents.
func NewKubelets(o KubeletOptions) *Kubelets {
	secure := o.TLS
	if secure == nil {
		secure = &tls.Config{InsecureSkipVerify: true}
	}
	unverified := secure.Clone()
	// Our certificate is shown all the same: an agent that is not verified still wants to know who asks.
	unverified.InsecureSkipVerify, unverified.VerifyConnection = true, nil
	return &Kubelets{
		Trusted:      proxy.NewBackend(proxy.BackendOptions{TLS: secure, DialTimeout: o.DialTimeout}),
		Unverified:   proxy.NewBackend(proxy.BackendOptions{TLS: unverified, DialTimeout: o.DialTimeout}),
		Proxied:      proxy.NewBackend(proxy.BackendOptions{TLS: secure, DialTimeout: o.DialTimeout, Dial: DialMember}),
		addressTypes: o.AddressTypes, port: strconv.Itoa(o.Port),
	}
}

// Close closes the connections that are kept.
func (k *Kubelets) Close() {
	k.Trusted.Close()
	k.Unverified.Close()
	k.Proxied.Close()
}

// kubelet is where the agent of a Node is reached.
func (l *Locator) kubelet(node string) (host, port string, err error) {
	o, err := l.get(nodesResource, "", node)
	if err != nil {
		return "", "", err
	}
	status := o.Object("status")
	addresses := status.Objects("addresses")
	// The order is the operator's, not that of the Node: names may be resolvable in one network and not in another.
	for _, wanted := range l.Kubelets.addressTypes {
		for _, a := range addresses {
			if a.String("type") != wanted {
				continue
			}
			// An agent says where it listens; a Node that somebody has written by hand does not.
			if n, _ := status.Object("daemonEndpoints", "kubeletEndpoint").Int("Port"); n > 0 {
				return a.String("address"), strconv.FormatInt(n, 10), nil
			}
			return a.String("address"), l.Kubelets.port, nil
		}
	}
	// The text names what there is, since the usual cause is that the addresses are of other types.
	known := make([]string, len(addresses))
	for i, a := range addresses {
		known[i] = "{" + a.String("type") + " " + a.String("address") + "}"
	}
	return "", "", internal(fmt.Sprintf("no preferred addresses found; known addresses: [%s]", strings.Join(known, " ")))
}

// internal is the answer to a failure for which there is no other one.
func internal(message string) *meta.Status { return &meta.Status{Code: 500, Message: message} }

// Stream is the target of a connection to a container, or to the ports of a Pod.
func (l *Locator) Stream(_ context.Context, subresource string, r Request) (*proxy.Target, error) {
	pod, err := l.get(podsResource, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	// The pods of a Node are known to its agent by namespace and name, whatever has asked for them here.
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
		// The agent's names of the options are older than those of the API.
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
	// The container is chosen before the Node is looked for, so that a wrong name is told first, as clients expect.
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

// kubeletURL is an address at the kubelet of a node. The scheme is always https: what passes are logs and commands.
func (l *Locator) kubeletURL(node, path string, query url.Values) (*url.URL, error) {
	host, port, err := l.kubelet(node)
	if err != nil {
		return nil, err
	}
	return &url.URL{Scheme: "https", Host: net.JoinHostPort(host, port), Path: path, RawQuery: query.Encode()}, nil
}

// chooseContainer is the container that is meant: the only one, if none is named.
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
