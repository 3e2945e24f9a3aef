package requestinfo

import (
	"slices"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Info describes a parsed request for routing, authorization, metrics, and the store.
type Info struct {
	// IsResource distinguishes requests for objects from other paths, such as /version.
	IsResource bool
	Method     string
	// Verb is get, list, watch, create, update, patch, delete, or deletecollection. For
	// non-resource paths, it is the method in lower case.
	Verb string
	Path string

	Group, Version        string
	Namespace             string // "" for cluster scope and all namespaces
	Resource, Subresource string
	Name                  string

	// segments counts the path segments up to and including the resource, name, and subresource.
	segments int
	// extraSegments reports whether more segments follow. inNamespace reports whether a namespace
	// precedes the resource.
	extraSegments, inNamespace bool
	// legacyWatch reports whether the path has the deprecated prefix "watch".
	legacyWatch bool
	// legacyProxy reports whether the path has the deprecated prefix "proxy" or "redirect".
	legacyProxy bool
}

// Parse sets the fields from a method and a target. It never fails, because a path that is not a
// resource path is authorized as a non-resource path.
func (i *Info) Parse(method string, t *Target) {
	i.Method, i.Path = method, t.Path
	segs := t.Segments[:t.count]
	switch {
	case len(segs) > 2 && segs[0] == "api":
		i.Version, segs = segs[1], segs[2:]
	case len(segs) > 3 && segs[0] == "apis":
		i.Group, i.Version, segs = segs[1], segs[2], segs[3:]
	default:
		i.Verb = nonResourceVerb(method)
		return
	}
	i.IsResource = true
	old, watch := segs[0], t.Query.Flag("watch")
	switch {
	case len(segs) == 1:
	case old == "watch":
		segs, watch, i.legacyWatch = segs[1:], true, true
	case old == "proxy" || old == "redirect":
		segs, i.legacyProxy = segs[1:], true
	}
	prefix := t.count - len(segs)
	i.parseResource(segs)
	i.segments += prefix
	i.Verb = i.resourceVerb(watch)
	if i.legacyProxy {
		i.Verb, i.Subresource = old, "" // the rest is for another server
	}
}

// parseResource parses the path after group and version. In "namespaces/x/status", status is a
// subresource of the namespace, not a resource in it.
func (i *Info) parseResource(segs []string) {
	if segs[0] == "namespaces" && len(segs) > 1 {
		i.Namespace = segs[1]
		ofNamespace := len(segs) == 3 && (segs[2] == "status" || segs[2] == "finalize")
		if len(segs) > 2 && !ofNamespace {
			segs, i.inNamespace, i.segments = segs[2:], true, 2
		}
	}
	i.segments += min(len(segs), 3)
	i.Resource = segs[0]
	if len(segs) > 1 {
		i.Name = segs[1]
	}
	if len(segs) > 2 {
		i.Subresource = segs[2]
	}
	i.extraSegments = len(segs) > 3
}

func nonResourceVerb(method string) string {
	switch method {
	case "GET":
		return "get"
	case "HEAD":
		return "head"
	case "POST":
		return "post"
	case "PUT":
		return "put"
	case "PATCH":
		return "patch"
	case "DELETE":
		return "delete"
	case "OPTIONS":
		return "options"
	}
	return "other"
}

func (i *Info) resourceVerb(watch bool) string {
	switch i.Method {
	case "GET", "HEAD":
		switch {
		case watch && i.Subresource == "":
			return "watch"
		case i.Name == "":
			return "list"
		}
		return "get"
	case "POST":
		return "create"
	case "PUT":
		return "update"
	case "PATCH":
		return "patch"
	case "DELETE":
		if i.Name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return ""
}

// WithMethod returns the same request with another method, to determine a path's allowed methods.
func (i Info) WithMethod(method string) Info {
	i.Method = method
	i.Verb = i.resourceVerb(i.legacyWatch)
	return i
}

// LongRunning reports whether the request may run without a deadline, such as a watch or a log
// stream.
func (i *Info) LongRunning() bool {
	switch {
	case !i.IsResource:
		return false
	case i.Verb == "watch" || i.Verb == "proxy":
		return true
	}
	switch i.Subresource {
	case "attach", "exec", "log", "portforward", "proxy":
		return true
	}
	return false
}

type kindLookup func(group, version, resource string) *schema.Kind

// Resolve returns the kind and the subresource, which is nil for the main resource. It returns a
// 404 or 405 if the path or verb is not served.
func (i *Info) Resolve(lookup kindLookup) (*schema.Kind, *schema.Subresource, error) {
	k := lookup(i.Group, i.Version, i.Resource)
	if k == nil || i.legacyProxy || i.extraSegments && i.Subresource != "proxy" || i.legacyWatch && i.Subresource != "" {
		return nil, nil, apierrors.PathNotFound()
	}
	if !k.Namespaced && i.inNamespace || k.Namespaced && i.Namespace == "" && i.Name != "" {
		return nil, nil, apierrors.PathNotFound()
	}
	verbs, sub := k.Verbs, (*schema.Subresource)(nil)
	if i.Subresource != "" {
		if sub = k.Subresource(i.Subresource); sub == nil {
			return nil, nil, apierrors.PathNotFound()
		}
		verbs = sub.Verbs
	}
	switch {
	case sub != nil && sub.Name == "proxy" && sub.Connects && i.Method != "OTHER": // any method
		return k, sub, nil
	case i.extraSegments:
		return nil, nil, apierrors.PathNotFound()
	case i.Method == "HEAD" || i.legacyWatch && i.Method != "GET" || i.Verb == "" || !slices.Contains(verbs, i.Verb), !i.verbFitsPath(k):
		if !i.exists(k) {
			return nil, nil, apierrors.PathNotFound()
		}
		return nil, nil, apierrors.MethodNotAllowed()
	}
	return k, sub, nil
}

// exists reports whether the path supports any method. Kinds that only support create have no paths
// for single objects or for all namespaces.
func (i *Info) exists(k *schema.Kind) bool {
	switch {
	case i.Subresource != "":
		return true
	case i.Name != "":
		return slices.Contains(k.Verbs, "get")
	}
	return !k.Namespaced || i.Namespace != "" || slices.Contains(k.Verbs, "list")
}

// verbFitsPath reports whether the verb is valid for the path of an object, a collection, or all
// namespaces.
func (i *Info) verbFitsPath(k *schema.Kind) bool {
	allNamespaces := k.Namespaced && i.Namespace == ""
	switch i.Verb {
	case "create":
		return !allNamespaces && (i.Name == "" || i.Subresource != "")
	case "update", "patch":
		return i.Name != ""
	case "deletecollection":
		return !allNamespaces
	}
	return true
}

// Segments returns the number of segments up to and including the subresource. Later segments form
// the target path of a proxy request.
func (i *Info) Segments() int { return i.segments }

// Key returns the key of the requested object.
func (i *Info) Key(k *schema.Kind) meta.Key {
	key := meta.Key{GroupResource: k.Storage, Name: i.Name}
	if k.Namespaced {
		key.Namespace = i.Namespace
	}
	return key
}
