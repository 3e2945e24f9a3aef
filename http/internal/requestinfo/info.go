package requestinfo

import (
	"slices"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Info is what a request asks for, parsed once. Routing, authorization, metrics and the
// store all decide on it.
type Info struct {
	// IsResource tells a request for objects from one for anything else, such as /version.
	IsResource bool
	Method     string
	// Verb is get, list, watch, create, update, patch, delete or deletecollection; for
	// anything else the method in lower case.
	Verb string
	// Path is the decoded path.
	Path string

	Group, Version        string
	Namespace             string // "" for cluster scope and for all namespaces
	Resource, Subresource string
	Name                  string

	// segments is how many segments of the path lead to the resource and its sub-resource.
	segments int
	// extraSegments: the path goes on after what a resource path may hold. inNamespace: it names a
	// namespace before the resource.
	extraSegments, inNamespace bool
	// legacyWatch: the path begins with the old prefix of watches.
	legacyWatch bool
	// legacyProxy: the path begins with an old prefix for proxy or redirect.
	legacyProxy bool
}

// Parse fills in from a method and a parsed target. It never fails: authorization decides on a path
// that is not one of a resource as such.
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
		i.Verb, i.Subresource = old, "" // what follows the name is not for this server
	}
}

// parseResource reads the path behind group and version. "namespaces/x/status" is the status of a namespace
// and not a resource of that name in it.
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

// nonResourceVerb is the verb of a request that is not for a resource. Roles name such verbs in small
// letters.
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

// resourceVerb is the verb of a request for a resource; "" if no method has one.
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

// WithMethod is the same request made with another method, by which the methods that a resource has are
// found.
func (i Info) WithMethod(method string) Info {
	i.Method = method
	i.Verb = i.resourceVerb(i.legacyWatch)
	return i
}

// LongRunning tells whether a request goes on until its client, or who answers, ends it.
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

// kindLookup finds a served kind; nil if there is none.
type kindLookup func(group, version, resource string) *schema.Kind

// Resolve finds the kind that a resource request is for and checks that the path has a
// shape that it serves, and that it serves the verb. sub is nil for the main resource.
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
	case sub != nil && sub.Name == "proxy" && sub.Connects && i.Method != "OTHER": // with every method that there is
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

// exists tells whether there is a path, for any method: that of an object, or of the collections of all namespaces, is not there for kinds
// that can only be created.
func (i *Info) exists(k *schema.Kind) bool {
	switch {
	case i.Subresource != "":
		return true
	case i.Name != "":
		return slices.Contains(k.Verbs, "get")
	}
	return !k.Namespaced || i.Namespace != "" || slices.Contains(k.Verbs, "list")
}

// verbFitsPath tells whether the verb can be used on the path, which names one object, a collection, or the
// collections of all namespaces.
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

// Segments is how many segments of the path lead to the resource and its sub-resource. What comes behind them is for
// another server.
func (i *Info) Segments() int { return i.segments }

// Key is the key of the object that is asked for.
func (i *Info) Key(k *schema.Kind) meta.Key {
	key := meta.Key{GroupResource: k.Storage, Name: i.Name}
	if k.Namespaced {
		key.Namespace = i.Namespace
	}
	return key
}
