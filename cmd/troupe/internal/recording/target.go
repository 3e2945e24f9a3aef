package recording

import (
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A target is the object or collection of a request, with the verb.
type target struct {
	meta.Key
	version, verb, subresource string
}

var (
	collectionVerbs = map[string]string{"GET": "list", "DELETE": "deletecollection", "POST": "create"}
	objectVerbs     = map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
)

// parseTarget parses the target of a request. ok is false for paths other than those of objects,
// such as discovery.
func parseTarget(e Entry) (t target, ok bool) {
	u, err := url.ParseRequestURI(e.URI)
	if err != nil {
		return t, false
	}
	parts, query := strings.Split(strings.Trim(u.Path, "/"), "/"), u.Query()
	switch {
	case len(parts) > 2 && parts[0] == "api":
		t.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		t.Group, t.version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		t.Namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	t.Resource, t.Name, t.subresource = parts[0], parts[1], parts[2]
	t.verb = objectVerbs[e.Method]
	switch {
	case query.Has("dryRun"):
		t.verb = ""
	case e.Method == "GET" && slices.Contains([]string{"true", "1"}, query.Get("watch")):
		t.verb = "watch"
	case t.Name == "":
		t.verb = collectionVerbs[e.Method]
	case strings.HasPrefix(e.Type, rest.ApplyPatch):
		t.verb = "apply"
	}
	return t, true
}

// writes reports whether the request may change a stored object. Reviews are not stored.
func (t target) writes() bool {
	return !slices.Contains([]string{"", "get", "list", "watch"}, t.verb) && !strings.HasSuffix(t.Resource, "reviews")
}

// isSecret reports whether request bodies may contain tokens or values of Secrets.
func (t target) isSecret() bool {
	return t.GroupResource == meta.GroupResource{Resource: "secrets"} || t.subresource == "token"
}

func (t target) path(namespace, name string) string {
	return (&discovery.Resource{Group: t.Group, Version: t.version, Name: t.Resource, Namespaced: true}).Path(namespace, name)
}
