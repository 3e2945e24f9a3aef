package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// connections maps each connect subresource to its kind, operation ID, methods and parameters in
// the Kubernetes OpenAPI documents. Client libraries are generated from these documents.
var connections = map[string]struct{ kind, id, methods, parameters string }{
	"/pods/{name}/attach":           {"PodAttachOptions", "PodAttach", "get post", "container name namespace stderr:boolean stdin:boolean stdout:boolean tty:boolean"},
	"/pods/{name}/exec":             {"PodExecOptions", "PodExec", "get post", "command container name namespace stderr:boolean stdin:boolean stdout:boolean tty:boolean"},
	"/pods/{name}/portforward":      {"PodPortForwardOptions", "PodPortforward", "get post", "name namespace ports:integer"},
	"/pods/{name}/proxy":            {"PodProxyOptions", "PodProxy", "delete get head options patch post put", "name namespace path"},
	"/pods/{name}/proxy/{path}":     {"PodProxyOptions", "PodProxyWithPath", "delete get head options patch post put", "name namespace path path"},
	"/services/{name}/proxy":        {"ServiceProxyOptions", "ServiceProxy", "delete get head options patch post put", "name namespace path"},
	"/services/{name}/proxy/{path}": {"ServiceProxyOptions", "ServiceProxyWithPath", "delete get head options patch post put", "name namespace path path"},
	"/nodes/{name}/proxy":           {"NodeProxyOptions", "NodeProxy", "delete get head options patch post put", "name path"},
	"/nodes/{name}/proxy/{path}":    {"NodeProxyOptions", "NodeProxyWithPath", "delete get head options patch post put", "name path path"},
	"/pods/{name}/log": {"", "PodLog", "get", "container follow:boolean insecureSkipTLSVerifyBackend:boolean limitBytes:integer name namespace pretty " +
		"previous:boolean sinceSeconds:integer stream tailLines:integer timestamps:boolean"},
}

type connectOperation struct {
	OperationID string
	Action      string         `json:"x-kubernetes-action"`
	Kind        map[string]any `json:"x-kubernetes-group-version-kind"`
	Produces    []string
	Responses   map[string]struct {
		Schema  any
		Content map[string]struct{ Schema any }
	}
}

// TestConnections checks the methods, names and parameters of connect subresources. Generated
// clients depend on them.
func TestConnections(t *testing.T) {
	t.Parallel()
	s := serveOpenAPI(t, "kubernetes")
	for _, url := range []string{"/openapi/v2", index(t, s)["api/v1"]} {
		var doc struct {
			Paths map[string]map[string]json.RawMessage
		}
		client.Decode(t, document(t, s, url, "application/json"), &doc)
		for path, want := range connections {
			namespaced := "Namespaced"
			if full := "/api/v1/namespaces/{namespace}" + path; strings.HasPrefix(path, "/nodes") {
				path, namespaced = "/api/v1"+path, ""
			} else {
				path = full
			}
			item := doc.Paths[path]
			if got := parametersOf(t, item["parameters"]); got != want.parameters {
				t.Errorf("%s %s has the parameters %s, want %s", url, path, got, want.parameters)
			}
			delete(item, "parameters")
			if got := strings.Join(slices.Sorted(maps.Keys(item)), " "); got != want.methods {
				t.Errorf("%s %s has the methods %s, want %s", url, path, got, want.methods)
			}
			for method, text := range item {
				id, action, kind := "connectCoreV1"+strings.ToUpper(method[:1])+method[1:]+namespaced+want.id, "connect", want.kind
				media := []string{"*/*"}
				if kind == "" {
					id, action, kind = "readCoreV1Namespaced"+want.id, "get", "Pod"
					media = []string{"application/json", "application/vnd.kubernetes.protobuf", "application/yaml", "text/plain"}
				}
				o := connectOperation{}
				client.Decode(t, text, &o)
				answer := o.Responses["200"]
				produced := slices.Sorted(maps.Keys(answer.Content))
				if len(produced) == 0 {
					produced = slices.Sorted(slices.Values(o.Produces))
					answer.Content = map[string]struct{ Schema any }{media[0]: {answer.Schema}}
				}
				if o.OperationID != id || o.Action != action || fmt.Sprint(o.Kind) != fmt.Sprintf("map[group: kind:%s version:v1]", kind) ||
					!slices.Equal(produced, media) || fmt.Sprint(answer.Content[media[0]].Schema) != "map[type:string]" {
					t.Errorf("%s %s %s: %s", url, method, path, text)
				}
			}
		}
	}
}

// parametersOf returns the names of a path's parameters. A parameter that is not a string is listed
// with its type, as in stdin:boolean.
func parametersOf(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var all []struct {
		Ref    string `json:"$ref"`
		Name   string
		Type   string
		Schema struct{ Type string }
	}
	client.Decode(t, text, &all)
	var names []string
	for _, p := range all {
		name := p.Name + strings.TrimPrefix(p.Ref, "#/parameters/")
		if kind := p.Type + p.Schema.Type; kind != "string" && kind != "" {
			name += ":" + kind
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
