package extension

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

// deepText is JSON of many levels.
var deepText = strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)

// doublings is a patch of which each operation doubles what the one before has made.
func doublings(n int) string {
	operations := []string{`{"op":"add","path":"/data/a","value":"` + strings.Repeat("x", 1000) + `"}`}
	for range n {
		operations = append(operations, `{"op":"copy","from":"/data","path":"/data/b"}`)
	}
	return "[" + strings.Join(operations, ",") + "]"
}

// TestForgedPatches: what clients cannot write, a webhook cannot either: it is as it would be without it, or the request is refused.
func TestForgedPatches(t *testing.T) {
	t.Parallel()
	s := openWebhooks(t, nil)
	h := startWebhooks(t, allow)
	const pods = "/api/v1/namespaces/default/pods"
	const widgets = "/apis/forged.example.com/v1/namespaces/default/widgets"
	s.Send(201, "POST", "/apis/apiextensions.platform.io/v1/customresourcedefinitions", client.JSON, `{"metadata":{"name":"widgets.forged.example.com"},"spec":{"group":"forged.example.com","scope":"Namespaced",
		"names":{"plural":"widgets","singular":"widget","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
		"schema":{"openAPIV3Schema":{"type":"object","x-platform-preserve-unknown-fields":true}}}]}}`)
	widget := func(name string) string {
		return `{"apiVersion":"forged.example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"}}`
	}
	client.Eventually(t, func() error { // for a definition to be served
		a, err := s.Do(s.Ctx, "POST", widgets, client.JSON, []byte(widget("w")))
		if err == nil && a.Code != 201 {
			err = &a
		}
		return err
	})
	s.Send(201, "POST", pods, client.JSON, `{"metadata":{"name":"p","finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	s.Send(201, "POST", pods, client.JSON, `{"metadata":{"name":"ends","finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	s.Send(200, "DELETE", pods+"/ends", client.JSON, "")
	s.register(mutating, "m", webhookHook{rules: rule("CREATE,UPDATE", "*", "v1", "pods,pods/status,pods/eviction,configmaps,widgets,widgets/status,serviceaccounts/token")}.text(h))
	const pod = `{"metadata":{"name":"$"},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	merge, note := "application/merge-patch+json", `{"metadata":{"annotations":{"n":"$"}}}`
	for i, c := range []struct {
		what, method, path, contentType, body, patch string
		code                                         int
		keeps                                        string // what the answer has, as JSON of what is at a path: "path JSON"
	}{
		{"status with a new Pod", "POST", pods, client.JSON, pod, `[{"op":"replace","path":"/status","value":{"phase":"Running","podIP":"10.0.0.1"}}]`, 201, `status {"phase":"Pending","qosClass":"BestEffort"}`},
		{"status with a Pod", "PATCH", pods + "/p", merge, note, `[{"op":"replace","path":"/status","value":{"phase":"Running"}}]`, 200, `status.phase "Pending"`},
		{"spec with a status", "PATCH", pods + "/p/status", merge, `{"status":{"message":"$"}}`, `[{"op":"replace","path":"/spec/containers/0/image","value":"evil"}]`, 200, `spec.containers.0.image "i"`},
		{"a status of a custom object", "PATCH", widgets + "/w", merge, note, `[{"op":"add","path":"/status","value":{"x":1}}]`, 200, `status null`},
		{"a status of a new custom object", "POST", widgets, client.JSON, widget("$"), `[{"op":"add","path":"/status","value":{"x":1}}]`, 201, `status null`},
		{"spec with the status of a custom object", "PATCH", widgets + "/w/status", merge, `{"status":{"y":"$"}}`, `[{"op":"add","path":"/spec","value":{"x":1}}]`, 200, `spec null`},
		{"an immutable field", "PATCH", pods + "/p", merge, note, `[{"op":"add","path":"/spec/nodeName","value":"n"}]`, 422, ""},
		{"a uid", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"add","path":"/metadata/uid","value":"forged"}]`, 201, `metadata.uid not "forged"`},
		{"a uid of another one", "PATCH", pods + "/p", merge, note, `[{"op":"replace","path":"/metadata/uid","value":"forged"}]`, 422, ""},
		{"a name", "PATCH", pods + "/p", merge, note, `[{"op":"replace","path":"/metadata/name","value":"forged"}]`, 422, ""},
		{"a generation", "PATCH", pods + "/p", merge, note, `[{"op":"replace","path":"/metadata/generation","value":77}]`, 200, `metadata.generation 1`},
		{"a version", "PATCH", pods + "/p", merge, note, `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"}]`, 409, ""},
		{"managedFields", "POST", configMaps, client.JSON, configMap("$", `"a":"b"`), `[{"op":"add","path":"/metadata/managedFields","value":[{"manager":"forged","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}]`, 201, `metadata.managedFields.0.manager "forged"`},
		{"the end", "PATCH", pods + "/p", merge, note, `[{"op":"add","path":"/metadata/deletionTimestamp","value":"2020-01-01T00:00:00Z"}]`, 422, ""},
		{"no end", "PATCH", pods + "/ends", merge, note, `[{"op":"remove","path":"/metadata/deletionTimestamp"}]`, 200, `metadata.deletionTimestamp not null`},
		{"a finalizer of an object that ends", "PATCH", pods + "/ends", merge, note, `[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/g"}]`, 422, ""},
		{"a label that is none", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"add","path":"/metadata/labels","value":{"a b":"c"}}]`, 422, ""},
		{"an owner without a uid", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"add","path":"/metadata/ownerReferences","value":[{"apiVersion":"v1","kind":"Pod","name":"p"}]}]`, 422, ""},
		{"no metadata", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"remove","path":"/metadata"}]`, 422, ""},
		{"no object", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"replace","path":"","value":[]}]`, 500, ""},
		{"a copy of each copy", "POST", configMaps, client.JSON, configMap("$", ""), doublings(40), 500, ""},
		{"too many operations", "POST", configMaps, client.JSON, configMap("$", ""), "[" + strings.Repeat(`{"op":"test","path":"/kind","value":"ConfigMap"},`, 10000) + `{"op":"test","path":"/kind","value":"ConfigMap"}]`, 500, ""},
		{"too much", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"add","path":"/data","value":{"a":"` + strings.Repeat("x", 1<<20+1) + `"}}]`, 422, ""},
		{"too deep a custom object", "POST", widgets, client.JSON, widget("$"), `[{"op":"add","path":"/spec","value":` + deepText + `}]`, 500, ""},
		{"text that is none", "POST", configMaps, client.JSON, configMap("$", ""), `[{"op":"add","path":"/data","value":{"a":"` + "\xff\xfe" + `"}}]`, 201, `data.a "` + "\ufffd\ufffd" + `"`},
		{"a token for longer", "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", client.JSON, `{"spec":{"expirationSeconds":600}}`, `[{"op":"replace","path":"/spec/expirationSeconds","value":1}]`, 422, ""},
		{"a token of its own", "POST", "/api/v1/namespaces/default/serviceaccounts/default/token", client.JSON, `{"spec":{"expirationSeconds":600}}`, `[{"op":"add","path":"/status","value":{"token":"forged","expirationTimestamp":"2020-01-01T00:00:00Z"}}]`, 201, `status.token not "forged"`},
	} {
		h.set(patches(c.patch))
		name := fmt.Sprint("forged-", i+1)
		quick := client.Quick(t, 20*time.Second, c.what)
		a, err := s.Do(s.Ctx, c.method, c.path, c.contentType, []byte(strings.ReplaceAll(c.body, "$", name)))
		if err != nil || a.Code != c.code {
			t.Errorf("%s: %d %.300s, %v; want %d", c.what, a.Code, a.Body, err, c.code)
			continue
		}
		quick()
		if c.keeps == "" {
			if c.method == "POST" {
				s.Send(404, "GET", c.path+"/"+name, "", "")
			}
			continue
		}
		path, want, _ := strings.Cut(c.keeps, " ")
		unlike, isUnlike := strings.CutPrefix(want, "not ")
		if got := jsonAt(a.Body, path); isUnlike && got == unlike || !isUnlike && got != want {
			t.Errorf("%s: %s is %.300s, want %s", c.what, path, got, want)
		}
	}
	h.set(allow)
	s.create(201, "after-all", "")
}

// jsonAt is the JSON of what is at a path of names and places in lists, null if there is nothing.
func jsonAt(body []byte, path string) string {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err.Error()
	}
	for _, name := range strings.Split(path, ".") {
		switch at := v.(type) {
		case webhookObject:
			v = at[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(at) {
				return "null"
			}
			v = at[i]
		default:
			return "null"
		}
	}
	text, _ := json.Marshal(v)
	return string(text)
}
