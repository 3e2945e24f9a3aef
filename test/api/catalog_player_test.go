package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

// A catalogPlayer sends the requests of one row in a test table. Each row uses its own object.
type catalogPlayer struct {
	*client.Client
	catalog *catalog.Catalog
	table   *tableFile
	name    string
}

func (p *catalogPlayer) play(ctx context.Context, q catalogRequest) ([]string, error) {
	a, err := p.send(ctx, q)
	if err != nil {
		return nil, err
	}
	return describe(a, q.show), nil
}

// send sends one request. An update applies the patch to the current object, so that only the
// patched fields can cause a rejection.
func (p *catalogPlayer) send(ctx context.Context, q catalogRequest) (client.Answer, error) {
	k, err := p.kind(q)
	if err != nil {
		return client.Answer{}, err
	}
	path := collection(k)
	one := path + "/" + p.name
	switch q.verb {
	case "create":
		return p.Create(ctx, path+q.query, mergeCatalog(p.body(k), q.patch))
	case "patch":
		return p.Patch(ctx, one+q.query, q.patch)
	case "get":
		return p.Get(ctx, one+q.query)
	case "delete":
		return p.Delete(ctx, one+q.query, nil)
	case "update", "status":
		now, err := p.Get(ctx, one)
		if err != nil {
			return client.Answer{}, err
		}
		if q.verb == "status" {
			one += "/status"
		}
		return p.Update(ctx, one+q.query, mergeCatalog(now.Object(), q.patch))
	}
	return client.Answer{}, fmt.Errorf("no request is called %q", q.verb)
}

func (p *catalogPlayer) kind(q catalogRequest) (*schema.Kind, error) {
	apiVersion := cmp.Or(q.apiVersion, p.table.apiVersion)
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group, version = "", apiVersion
	}
	k := p.catalog.ByGVK(meta.GroupVersionKind{Group: group, Version: version, Kind: p.table.kind})
	if k == nil {
		return nil, fmt.Errorf("%s %s is not in the catalogue", apiVersion, p.table.kind)
	}
	return k, nil
}

func collection(k *schema.Kind) string {
	path := "/apis/" + k.APIVersion()
	if k.Group == "" {
		path = "/api/" + k.Version
	}
	if k.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + k.Resource
}

// body returns the base object of the table, named after the row unless the kind is virtual.
func (p *catalogPlayer) body(k *schema.Kind) map[string]any {
	metadata := map[string]any{}
	if !k.Virtual() {
		metadata["name"] = p.name
	}
	return mergeCatalog(p.table.base, map[string]any{"apiVersion": k.APIVersion(), "kind": k.Kind, "metadata": metadata})
}

// mergeCatalog returns the result of applying a JSON merge patch. It does not modify its arguments.
func mergeCatalog(to, patch map[string]any) map[string]any {
	out := maps.Clone(to)
	if out == nil {
		out = map[string]any{}
	}
	for name, v := range patch {
		sub, isMap := v.(map[string]any)
		was, _ := out[name].(map[string]any)
		switch {
		case v == nil:
			delete(out, name)
		case isMap:
			out[name] = mergeCatalog(was, sub)
		default:
			out[name] = v
		}
	}
	return out
}

// describe formats a response as lines of a table. It shows only the requested fields of an object,
// because UIDs and timestamps vary.
func describe(a client.Answer, show []string) []string {
	o := a.Object()
	lines := []string{fmt.Sprint(a.Code)}
	if a.Code >= http.StatusBadRequest {
		return append(lines, refusal(o)...)
	}
	if w := a.Header.Values("Warning"); len(w) > 0 {
		lines = append(lines, "  warning: "+strings.Join(w, ", "))
	}
	for _, path := range show {
		text := "absent"
		if v, ok := find(map[string]any(o), strings.Split(path, ".")); ok {
			text = compact(v)
		}
		lines = append(lines, "  "+path+": "+text)
	}
	return lines
}

func refusal(o client.Object) (lines []string) {
	details, _ := o["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	if len(causes) == 0 {
		return []string{fmt.Sprintf("  %v: %v", o["reason"], o["message"])}
	}
	for _, c := range causes {
		cause := c.(map[string]any)
		lines = append(lines, fmt.Sprintf("  %v %v: %v", cause["field"], cause["reason"], cause["message"]))
	}
	return lines
}

// find returns the value at a path of field names and list indexes. It reports whether the value
// exists.
func find(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[path[0]]
		if !ok {
			return nil, false
		}
		return find(next, path[1:])
	case []any:
		var i int
		if _, err := fmt.Sscan(path[0], &i); err != nil || i >= len(v) {
			return nil, false
		}
		return find(v[i], path[1:])
	}
	return nil, false
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
