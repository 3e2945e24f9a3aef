package storage

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

type linearObject = map[string]any

// A handler is a server component that computes a response or decision instead of returning stored
// objects. Examples are tokens and evictions.
type handler struct {
	name string // group and resource in discovery, or another component that makes decisions
	// write creates the objects that the handler depends on, at pair.one. ask then sends a request
	// to pair.behind. It returns "" if the response is correct, and a description of the error
	// otherwise.
	write func(p *pair, name string)
	ask   func(p *pair, name string) string
}

// A pair is two servers. Writes to the server one reach the server behind with a delay.
type pair struct {
	t           *testing.T
	one, behind *replica
	token       string // token of the handler's ServiceAccount
}

func (p *pair) send(r *replica, method, path, token string, body any) client.Answer {
	p.t.Helper()
	a, err := r.send(p.t, method, path, token, body)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (p *pair) create(path string, body linearObject) {
	p.t.Helper()
	if a := p.send(p.one, "POST", path, "", body); a.Code != 201 {
		p.t.Fatalf("POST %s: %v", path, a)
	}
}

const (
	inDefault = "/api/v1/namespaces/default/"
	rbacGroup = "rbac.authorization.platform.io"
)

func account(p *pair, name string) {
	p.create(inDefault+"serviceaccounts", linearObject{"metadata": linearObject{"name": name}})
}

func accountWithToken(p *pair, name string) {
	account(p, name)
	var token struct{ Status struct{ Token string } }
	client.Decode(p.t, p.send(p.one, "POST", inDefault+"serviceaccounts/"+name+"/token", "", linearObject{}).Body, &token)
	p.token = token.Status.Token
}

func viewer(p *pair, name string) {
	accountWithToken(p, name)
	p.create("/apis/"+rbacGroup+"/v1/namespaces/default/rolebindings", linearObject{
		"metadata": linearObject{"name": name}, "roleRef": linearObject{"apiGroup": rbacGroup, "kind": "ClusterRole", "name": "view"},
		"subjects": []any{linearObject{"kind": "ServiceAccount", "name": name, "namespace": "default"}},
	})
}

func podLinear(p *pair, name string) {
	p.create(inDefault+"pods", linearObject{"metadata": linearObject{"name": name}, "spec": linearObject{"containers": []any{linearObject{"name": "c", "image": "i"}}}})
}

func node(p *pair, name string) {
	p.create("/api/v1/nodes", linearObject{"metadata": linearObject{"name": name}})
}

func service(p *pair, name string) {
	p.create(inDefault+"services", linearObject{"metadata": linearObject{"name": name}, "spec": linearObject{"ports": []any{linearObject{"port": 80}}}})
}

func answers(code int, method, path string, body func(name string) any) func(*pair, string) string {
	return func(p *pair, name string) string {
		var sent any
		if body != nil {
			sent = body(name)
		}
		if a := p.send(p.behind, method, strings.ReplaceAll(path, "NAME", name), "", sent); a.Code != code {
			return a.String()
		}
		return ""
	}
}

// finds returns an ask function that requests path and reports an error if the server does not find
// the written object. It ignores other failures.
func finds(resource, path string) func(*pair, string) string {
	return func(p *pair, name string) string {
		a := p.send(p.behind, "GET", strings.ReplaceAll(path, "NAME", name), "", nil)
		if strings.Contains(string(a.Body), fmt.Sprintf(`%s \"%s\" not found`, resource, name)) {
			return a.String()
		}
		return ""
	}
}

// reviews returns an ask function that sends a review and expects text in the response. The
// requester is the ServiceAccount if asAccount is true, and the administrator otherwise.
func reviews(path, text string, asAccount bool, spec func(p *pair, name string) linearObject) func(*pair, string) string {
	return func(p *pair, name string) string {
		token := ""
		if asAccount {
			token = p.token
		}
		a := p.send(p.behind, "POST", path, token, linearObject{"spec": spec(p, name)})
		if a.Code != 201 || !strings.Contains(string(a.Body), text) {
			return a.String()
		}
		return ""
	}
}

func access(p *pair, name string) linearObject {
	return linearObject{"user": "system:serviceaccount:default:" + name, "resourceAttributes": linearObject{"verb": "get", "resource": "pods", "namespace": "default"}}
}

func binding(name string) any {
	return linearObject{"metadata": linearObject{"name": name}, "target": linearObject{"kind": "Node", "name": "n"}}
}

// handlers lists all handlers that depend on stored objects, with request authorization last.
var handlers = []handler{
	{"serviceaccounts/token", account, answers(201, "POST", inDefault+"serviceaccounts/NAME/token", func(string) any { return linearObject{} })},
	{"pods/eviction", podLinear, answers(201, "POST", inDefault+"pods/NAME/eviction", func(name string) any { return linearObject{"metadata": linearObject{"name": name}} })},
	{"pods/binding", podLinear, answers(201, "POST", inDefault+"pods/NAME/binding", binding)},
	{"bindings", podLinear, answers(201, "POST", inDefault+"bindings", binding)},
	{"pods/log", podLinear, finds("pods", inDefault+"pods/NAME/log")},
	{"pods/exec", podLinear, finds("pods", inDefault+"pods/NAME/exec?command=x&stdout=1")},
	{"pods/attach", podLinear, finds("pods", inDefault+"pods/NAME/attach?stdout=1")},
	{"pods/portforward", podLinear, finds("pods", inDefault+"pods/NAME/portforward?ports=80")},
	{"pods/proxy", podLinear, finds("pods", inDefault+"pods/NAME/proxy/x")},
	{"services/proxy", service, finds("services", inDefault+"services/NAME:80/proxy/x")},
	{"nodes/proxy", node, finds("nodes", "/api/v1/nodes/NAME/proxy/x")},
	{"authentication.platform.io/tokenreviews", accountWithToken, reviews("/apis/authentication.platform.io/v1/tokenreviews", `"authenticated":true`, false,
		func(p *pair, _ string) linearObject { return linearObject{"token": p.token} })},
	{"authorization.platform.io/subjectaccessreviews", viewer, reviews("/apis/authorization.platform.io/v1/subjectaccessreviews", `"allowed":true`, false, access)},
	{"authorization.platform.io/localsubjectaccessreviews", viewer,
		reviews("/apis/authorization.platform.io/v1/namespaces/default/localsubjectaccessreviews", `"allowed":true`, false, access)},
	{"authorization.platform.io/selfsubjectaccessreviews", viewer, reviews("/apis/authorization.platform.io/v1/selfsubjectaccessreviews", `"allowed":true`, true,
		func(p *pair, name string) linearObject {
			return linearObject{"resourceAttributes": access(p, name)["resourceAttributes"]}
		})},
	{"authorization.platform.io/selfsubjectrulesreviews", viewer, reviews("/apis/authorization.platform.io/v1/selfsubjectrulesreviews", `"configmaps"`, true,
		func(*pair, string) linearObject { return linearObject{"namespace": "default"} })},
	{"authentication.platform.io/selfsubjectreviews", accountWithToken, reviews("/apis/authentication.platform.io/v1/selfsubjectreviews", `"userInfo"`, true,
		func(*pair, string) linearObject { return linearObject{} })},
	{"authorization of a request", viewer, func(p *pair, _ string) string {
		if a := p.send(p.behind, "GET", inDefault+"pods", p.token, nil); a.Code != 200 {
			return a.String()
		}
		return ""
	}},
}

// throughStore lists subresources that need no entry in handlers. Their handlers read objects only
// through the Store, which guarantees current responses.
var throughStore = []string{"status", "scale", "finalize", "approval", "ephemeralcontainers", "resize"}

// TestHandlersSeeOtherDaemons checks that every handler of a server respects writes acknowledged by
// another server, even if events from etcd arrive late. Each resource in discovery that has a
// handler must be listed in handlers or throughStore.
func TestHandlersSeeOtherDaemons(t *testing.T) {
	c := newClusterLinear(t)
	behind := c.replicas[1]
	listed := map[string]bool{}
	for i, h := range handlers {
		listed[h.name] = true
		t.Run(h.name, func(t *testing.T) {
			p := &pair{t: t, one: c.replicas[0], behind: behind}
			for n := range 3 {
				name := fmt.Sprintf("h-%d-%d", i, n)
				behind.slow(50 * time.Millisecond)
				h.write(p, name)
				wrong := h.ask(p, name)
				behind.mend()
				if wrong != "" {
					t.Fatal("at a daemon that is behind: ", wrong)
				}
			}
		})
	}
	for _, name := range c.resources() {
		subresource := name[strings.LastIndex(name, "/")+1:]
		if !listed[name] && !slices.Contains(throughStore, subresource) {
			t.Errorf("%s has a handler of its own that is not listed", name)
		}
	}
}

// resources returns the resources in discovery without stored objects: subresources, and resources
// that can only be created.
func (c *linearCluster) resources() (names []string) {
	c.t.Helper()
	read := func(path string, into any) {
		c.t.Helper()
		a, err := c.replicas[0].Get(c.t.Context(), path)
		if err == nil {
			err = json.Unmarshal(a.Body, into)
		}
		if err != nil {
			c.t.Fatal(path, err)
		}
	}
	var groups struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	read("/apis", &groups)
	paths := []string{"/api/v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			paths = append(paths, "/apis/"+v.GroupVersion)
		}
	}
	for _, path := range paths {
		var list struct {
			GroupVersion string
			Resources    []struct {
				Name  string
				Verbs []string
			}
		}
		read(path, &list)
		group, _, named := strings.Cut(list.GroupVersion, "/")
		for _, r := range list.Resources {
			if !strings.Contains(r.Name, "/") && (slices.Contains(r.Verbs, "get") || slices.Contains(r.Verbs, "list")) {
				continue
			}
			if named {
				r.Name = group + "/" + r.Name
			}
			names = append(names, r.Name)
		}
	}
	return names
}
