package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
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
	version     uint64 // version of the object created last
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
	a := p.send(p.one, "POST", path, "", body)
	if a.Code != 201 {
		p.t.Fatalf("POST %s: %v", path, a)
	}
	p.version = a.Object().Version()
}

func (p *pair) remove(path string) {
	p.t.Helper()
	if a := p.send(p.one, "DELETE", path, "", nil); a.Code != 200 {
		p.t.Fatalf("DELETE %s: %v", path, a)
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

// TestHandlersSeeOtherDaemons checks that every handler and verb of a server respects writes
// acknowledged by another server, even if events from etcd arrive late. Each resource in discovery
// that has a handler must be listed in handlers or throughStore.
func TestHandlersSeeOtherDaemons(t *testing.T) {
	c := newClusterLinear(t)
	behind := c.replicas[1]
	listed := map[string]bool{}
	for i, h := range slices.Concat(handlers, verbs) {
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

// created returns a write function that creates an object. NAME in path and body stands for its
// name.
func created(path, body string) func(*pair, string) {
	return func(p *pair, name string) {
		p.t.Helper()
		a := p.do(p.one, "POST", path, client.JSON, body, name)
		if a.Code != 201 {
			p.t.Fatalf("POST %s: %v", path, a)
		}
		p.version = a.Object().Version()
	}
}

// then returns a write function that calls all.
func then(all ...func(*pair, string)) func(*pair, string) {
	return func(p *pair, name string) {
		for _, write := range all {
			write(p, name)
		}
	}
}

// removed returns a write function that deletes an object.
func removed(path string) func(*pair, string) {
	return func(p *pair, name string) { p.remove(strings.ReplaceAll(path, "NAME", name)) }
}

// do sends a request as the administrator. NAME in path and body stands for name, and VERSION for
// p.version.
func (p *pair) do(r *replica, method, path, contentType, body, name string) client.Answer {
	p.t.Helper()
	with := strings.NewReplacer("NAME", name, "VERSION", fmt.Sprint(p.version))
	a, err := r.Do(p.t.Context(), method, with.Replace(path), contentType, []byte(with.Replace(body)))
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// does returns an ask function that sends a request and expects the status code, and text in the
// response.
func does(code int, text, method, path, contentType, body string) func(*pair, string) string {
	return func(p *pair, name string) string {
		if a := p.do(p.behind, method, path, contentType, body, name); a.Code != code || !strings.Contains(string(a.Body), strings.ReplaceAll(text, "NAME", name)) {
			return a.String()
		}
		return ""
	}
}

// soon is does for policies, which apply on other servers after a delay. It repeats the request.
func soon(code int, text, method, path, contentType, body string) func(*pair, string) string {
	return func(p *pair, name string) string {
		p.t.Helper()
		client.Eventually(p.t, func() error {
			if wrong := does(code, text, method, path, contentType, body)(p, name); wrong != "" {
				return errors.New(wrong)
			}
			return nil
		})
		return ""
	}
}

// deletedByLabel is an ask function that deletes the object with a collection.
func deletedByLabel(p *pair, name string) string {
	deleted := p.do(p.behind, "DELETE", configMaps+"?labelSelector=is%3DNAME", "", "", name)
	if left := p.do(p.one, "GET", configMaps+"/NAME", "", "", name); left.Code != 404 {
		return fmt.Sprintf("%v leaves %v", deleted, left)
	}
	return ""
}

// watched is an ask function that watches from the version of the write, and expects a later change
// by the other server.
func watched(p *pair, name string) string {
	ctx, cancel := context.WithTimeout(p.t.Context(), client.Watchdog)
	defer cancel()
	w, err := p.behind.Watch(ctx, configMaps, url.Values{"resourceVersion": {fmt.Sprint(p.version)}})
	if err != nil {
		return err.Error()
	}
	defer w.Close()
	change := p.do(p.one, "PATCH", configMaps+"/NAME", client.MergePatch, `{"data":{"k":"later"}}`, name)
	if e, err := w.Next(); err != nil || e.Type != client.Modified || e.Object.Version() != change.Object().Version() {
		return fmt.Sprintf("watched %v, %v, changed %v", e, err, change)
	}
	return ""
}

const (
	named     = `{"metadata":{"name":"NAME","labels":{"is":"NAME"}},"data":{"k":"v"}}`
	applied   = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"NAME"},"data":{"k":"other"}}`
	inOwn     = "/api/v1/namespaces/NAME/"
	ownObject = `{"metadata":{"name":"NAME"}}`
	ofName    = `{"group":"NAME.example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}`
	account1  = inDefault + "serviceaccounts/NAME"
	binding1  = "/apis/" + rbacGroup + "/v1/namespaces/default/rolebindings/NAME"
)

// verbs lists requests that read, write or decide on an object that another server has written.
var verbs = []handler{
	{"get", created(configMaps, named), does(200, `"NAME"`, "GET", configMaps+"/NAME", "", "")},
	{"get of a deleted object", then(created(configMaps, named), removed(configMaps+"/NAME")), does(404, "not found", "GET", configMaps+"/NAME", "", "")},
	{"list", created(configMaps, named), does(200, `"NAME"`, "GET", configMaps, "", "")},
	{"list with a selector", created(configMaps, named), does(200, `"NAME"`, "GET", configMaps+"?labelSelector=is%3DNAME", "", "")},
	{"list not older than the write", created(configMaps, named), does(200, `"NAME"`, "GET", configMaps+"?resourceVersion=VERSION", "", "")},
	{"list at the write", created(configMaps, named), does(200, `"NAME"`, "GET", configMaps+"?resourceVersion=VERSION&resourceVersionMatch=Exact", "", "")},
	{"watch from the write", created(configMaps, named), watched},
	{"create again", created(configMaps, named), does(409, "AlreadyExists", "POST", configMaps, client.JSON, named)},
	{"create after a delete", then(created(configMaps, named), removed(configMaps+"/NAME")), does(201, "", "POST", configMaps, client.JSON, named)},
	{"update", created(configMaps, named), does(200, "", "PUT", configMaps+"/NAME", client.JSON, `{"metadata":{"name":"NAME","resourceVersion":"VERSION"},"data":{"k":"w"}}`)},
	{"patch", created(configMaps, named), does(200, `"k":"v"`, "PATCH", configMaps+"/NAME", client.MergePatch, `{"data":{"l":"w"}}`)},
	{"apply", created(configMaps+"?fieldManager=a", named), does(409, "FieldManagerConflict", "PATCH", configMaps+"/NAME?fieldManager=b", "application/apply-patch+yaml", applied)},
	{"delete", created(configMaps, named), does(200, "", "DELETE", configMaps+"/NAME", "", "")},
	{"delete of the version", created(configMaps, named), does(200, "", "DELETE", configMaps+"/NAME", client.JSON, `{"preconditions":{"resourceVersion":"VERSION"}}`)},
	{"deletecollection", created(configMaps, named), deletedByLabel},
	{"dry run", created(configMaps, named), does(409, "AlreadyExists", "POST", configMaps+"?dryRun=All", client.JSON, named)},
	{"namespace", created(namespaces, ownObject), does(201, "", "POST", inOwn+"configmaps", client.JSON, ownObject)},
	{"terminating namespace", then(created(namespaces, `{"metadata":{"name":"NAME"},"spec":{"finalizers":["e.com/x"]}}`), removed(namespaces+"/NAME")),
		does(403, "being terminated", "POST", inOwn+"configmaps", client.JSON, ownObject)},
	{"quota", then(created(namespaces, ownObject), created(inOwn+"resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"count/configmaps":"0"}}}`)),
		does(403, "exceeded quota", "POST", inOwn+"configmaps", client.JSON, ownObject)},
	{"limit range", then(created(namespaces, ownObject), created(inOwn+"limitranges", `{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container","default":{"cpu":"7m"}}]}}`)),
		soon(201, `"cpu":"7m"`, "POST", inOwn+"pods?dryRun=All", client.JSON, `{"metadata":{"name":"NAME"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)},
	{"priority class", created("/apis/scheduling.platform.io/v1/priorityclasses", `{"metadata":{"name":"NAME"},"value":7}`),
		does(201, `"priority":7`, "POST", inDefault+"pods?dryRun=All", client.JSON, `{"metadata":{"name":"NAME"},"spec":{"priorityClassName":"NAME","containers":[{"name":"c","image":"i"}]}}`)},
	{"service account of a pod", account, does(201, "", "POST", inDefault+"pods?dryRun=All", client.JSON, `{"metadata":{"name":"NAME"},"spec":{"serviceAccountName":"NAME","containers":[{"name":"c","image":"i"}]}}`)},
	{"admission policy", then(
		created("/apis/admissionregistration.platform.io/v1/validatingadmissionpolicies", `{"metadata":{"name":"NAME"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"],"resourceNames":["NAME"]}]},"validations":[{"expression":"false"}]}}`),
		created("/apis/admissionregistration.platform.io/v1/validatingadmissionpolicybindings", `{"metadata":{"name":"NAME"},"spec":{"policyName":"NAME","validationActions":["Deny"]}}`)),
		soon(422, "NAME", "POST", secrets+"?dryRun=All", client.JSON, ownObject)},
	{"discovery", created(definitions, `{"metadata":{"name":"things.NAME.example.com"},"spec":`+ofName+`}`), does(200, `"things"`, "GET", "/apis/NAME.example.com/v1", "", "")},
	{"groups", created(definitions, `{"metadata":{"name":"things.NAME.example.com"},"spec":`+ofName+`}`), does(200, `"NAME.example.com"`, "GET", "/apis", "", "")},
	{"OpenAPI", created(definitions, `{"metadata":{"name":"things.NAME.example.com"},"spec":`+ofName+`}`), does(200, `Thing`, "GET", "/openapi/v3/apis/NAME.example.com/v1", "", "")},
	{"custom kind", created(definitions, `{"metadata":{"name":"things.NAME.example.com"},"spec":`+ofName+`}`),
		does(201, "", "POST", "/apis/NAME.example.com/v1/namespaces/default/things", client.JSON, `{"apiVersion":"NAME.example.com/v1","kind":"Thing","metadata":{"name":"NAME"}}`)},
	{"review of a deleted binding", then(viewer, removed(binding1)), reviews("/apis/authorization.platform.io/v1/subjectaccessreviews", `"allowed":false`, false, access)},
	{"review of the token of a deleted account", then(accountWithToken, removed(account1)), reviews("/apis/authentication.platform.io/v1/tokenreviews", `"error"`, false,
		func(p *pair, _ string) linearObject { return linearObject{"token": p.token} })},
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
