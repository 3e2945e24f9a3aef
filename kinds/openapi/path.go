package openapi

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An endpoint is a path of a kind: a collection in one or all namespaces, an object, or a
// subresource.
type endpoint struct {
	kind *schema.Kind
	sub  *schema.Subresource // nil for the main resource
	// allNamespaces is true for a collection across namespaces.
	allNamespaces bool
	hasName       bool // an object or its subresource
	watches       bool // a path below /watch/
	hasPath       bool // a path below a subresource that connects
	path          string
	verbs         []string
}

// endpoints returns the paths of a kind that support a verb. For a Deployment:
//
//	/apis/apps/v1/namespaces/{namespace}/deployments          create, list, deletecollection
//	/apis/apps/v1/namespaces/{namespace}/deployments/{name}   get, update, patch, delete
//	/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale
//	/apis/apps/v1/deployments                                 list
//	/apis/apps/v1/watch/...                                   watch, for all but subresources
func endpoints(k *schema.Kind) []endpoint {
	base := "/" + groupVersion(k.Group, k.Version) + "/"
	scoped := base
	if k.Namespaced {
		scoped += "namespaces/{namespace}/"
	}
	all := []endpoint{
		{kind: k, path: scoped + k.Resource, verbs: supportedVerbs(k.Verbs, "create", "list", "deletecollection")},
		{kind: k, path: scoped + k.Resource + "/{name}", hasName: true, verbs: supportedVerbs(k.Verbs, "get", "update", "patch", "delete")},
	}
	for i := range k.Subresources {
		s := &k.Subresources[i]
		path := scoped + k.Resource + "/{name}/" + s.Name
		if s.Connects {
			all = append(all, connectEndpoints(k, s, path)...)
			continue
		}
		all = append(all, endpoint{
			kind: k, sub: s, path: path, hasName: true,
			verbs: supportedVerbs(s.Verbs, "get", "update", "patch", "create", "delete"),
		})
	}
	if k.Namespaced {
		all = append(all, endpoint{kind: k, path: base + k.Resource, allNamespaces: true, verbs: supportedVerbs(k.Verbs, "list")})
	}
	all = append(all, watchEndpoints(k, base, all)...)
	return slices.DeleteFunc(all, func(p endpoint) bool { return len(p.verbs) == 0 })
}

// watchEndpoints returns the deprecated watch paths of a kind. As in kube-apiserver, custom kinds
// have none.
func watchEndpoints(k *schema.Kind, base string, all []endpoint) (watches []endpoint) {
	verbs := supportedVerbs(k.Verbs, "watch")
	if len(verbs) == 0 || k.IsCustom() {
		return nil
	}
	for _, e := range all {
		if e.sub == nil {
			e.path, e.verbs, e.watches = base+"watch/"+strings.TrimPrefix(e.path, base), verbs, true
			watches = append(watches, e)
		}
	}
	return watches
}

func supportedVerbs(verbs []string, wanted ...string) (some []string) {
	for _, v := range wanted {
		if slices.Contains(verbs, v) {
			some = append(some, v)
		}
	}
	return some
}

// methods maps verbs to HTTP methods. "watch" is used only for the deprecated watch paths. Other
// watches are lists with a query parameter.
var methods = map[string]string{
	"get": "get", "list": "get", "watch": "get", "create": "post", "update": "put", "patch": "patch",
	"delete": "delete", "deletecollection": "delete",
}

func (b *builder) pathItem(p endpoint) object {
	if p.sub != nil && p.sub.Connects {
		return b.connectItem(p)
	}
	var parameters []parameter
	if p.hasName {
		parameters = append(parameters, standard().Name)
	}
	if p.kind.Namespaced && !p.allNamespaces {
		parameters = append(parameters, standard().Namespace)
	}
	if parameters = append(parameters, standard().Pretty); p.watches {
		parameters = append(parameters, standard().List...)
	}
	item := object{{"parameters", b.dialect.parameters(parameters)}}
	for _, verb := range p.verbs {
		item = item.with(methods[verb], b.operation(b.verb(p, verb)))
	}
	return item
}

func (b *builder) verb(p endpoint, verb string) operation {
	k := p.kind
	o := operation{
		tag: b.names.tag(k.Group, k.Version), kind: k.GroupVersionKind, action: methods[verb],
		consumes: anyMediaType, produces: b.objectTypes, statusCodes: []int{200}, deprecated: k.Deprecation != nil,
	}
	o.id, o.description = b.operationID(p, verb)
	if p.watches {
		o.action, o.produces, o.response = "watchlist", b.listTypes, b.watchEvent()
		if p.hasName {
			o.action = "watch"
		}
		return o
	}
	object := b.definitions.kind(k)
	if p.sub != nil && p.sub.BodyKind != nil {
		o.kind, object = p.sub.BodyKind.GroupVersionKind, b.definitions.kind(p.sub.BodyKind)
	}
	o.response = object
	switch verb {
	case "list":
		o.action, o.parameters, o.produces = "list", standard().List, b.listTypes
		o.response = b.definitions.list(k, b.meta("ListMeta"))
	case "create":
		o.parameters, o.body, o.statusCodes = standard().Write, object, []int{200, 201, 202}
	case "update":
		o.parameters, o.body, o.statusCodes = standard().Write, object, []int{200, 201}
	case "patch":
		o.parameters, o.body, o.statusCodes = standard().Patch, b.patch(), []int{200, 201}
		o.consumes = b.patchTypes(k)
	case "delete":
		o.parameters, o.body, o.bodyOptional = standard().Delete, b.metaRef("DeleteOptions"), true
		o.statusCodes = []int{200, 202}
		if !k.Writes.DeleteReturnsObject {
			o.response = b.metaRef("Status")
		}
	case "deletecollection":
		o.action, o.parameters = "deletecollection", standard().DeleteCollection
		o.body, o.bodyOptional, o.response = b.metaRef("DeleteOptions"), true, b.metaRef("Status")
	}
	return o
}

var verbNames = map[string]struct{ id, text string }{
	"get": {"read", "read"}, "list": {"list", "list or watch"}, "watch": {"watch", "watch"}, "create": {"create", "create"},
	"update": {"replace", "replace"}, "patch": {"patch", "partially update"},
	"delete": {"delete", "delete"}, "deletecollection": {"delete", "delete collection of"},
}

// Description suffixes for the deprecated watch paths.
const (
	watchObjectAdvice = ". Deprecated: use a list with the parameters 'watch' and 'fieldSelector' instead."
	watchListAdvice   = ". Deprecated: use a list with the parameter 'watch' instead."
)

// operationID returns an operation's ID, such as "replaceAppsV1NamespacedDeploymentScale", and its
// description. Client generators derive method names from IDs, so they must never change.
func (b *builder) operationID(p endpoint, verb string) (id, description string) {
	k := p.kind
	id = verbNames[verb].id + b.names.operations(k.Group, k.Version)
	description = verbNames[verb].text + " "
	if verb == "deletecollection" {
		id += "Collection"
	}
	if k.Namespaced && !p.allNamespaces {
		id += "Namespaced"
	}
	id += k.Kind
	if p.watches && !p.hasName {
		id += "List"
	}
	if p.allNamespaces {
		id += "ForAllNamespaces"
	}
	if p.sub != nil {
		id += capitalize(p.sub.Name)
		description += p.sub.Name + " of "
	}
	switch verb {
	case "create", "delete":
		return id, description + article(k.Kind) + " " + k.Kind
	case "list":
		return id, description + "objects of kind " + k.Kind
	case "deletecollection":
		return id, description + k.Kind
	case "watch":
		if p.hasName {
			return id, description + "changes to an object of kind " + k.Kind + watchObjectAdvice
		}
		return id, description + "individual changes to a list of " + k.Kind + watchListAdvice
	}
	return id, description + "the specified " + k.Kind
}

func article(noun string) string {
	if noun != "" && strings.ContainsRune("AEIOU", rune(noun[0])) {
		return "an"
	}
	return "a"
}

type metaEndpoint struct {
	path, id, tag, description string
	message                    string // message in package meta.v1; "" for the version
}

func (b *builder) metaPathItem(f metaEndpoint) object {
	o := operation{
		id: f.id, tag: f.tag, description: f.description, consumes: anyMediaType,
		produces: []string{typeJSON}, statusCodes: []int{200},
	}
	if f.message == "" {
		o.response = b.versionInfo()
	} else {
		o.response = b.metaRef(f.message)
	}
	return object{{"get", b.operation(o)}}
}

func (n names) resourceListPath(group, version string) metaEndpoint {
	return metaEndpoint{
		"/" + groupVersion(group, version) + "/", "get" + n.operations(group, version) + "APIResources",
		n.tag(group, version), "get available resources", "APIResourceList",
	}
}

func (n names) groupPath(group string) metaEndpoint {
	word := n.group(group)
	return metaEndpoint{"/apis/" + group + "/", "get" + capitalize(word) + "APIGroup", word, "get information of a group", "APIGroup"}
}

// Paths that every server has. As in the Kubernetes documents, they end with a slash, which the
// server ignores.
var (
	corePath    = metaEndpoint{"/api/", "getCoreAPIVersions", "core", "get available API versions", "APIVersions"}
	groupsPath  = metaEndpoint{"/apis/", "getAPIVersions", "apis", "get available API groups", "APIGroupList"}
	versionPath = metaEndpoint{"/version/", "getCodeVersion", "version", "get the version of this server", ""}
)

func gvks(kinds []*schema.Kind) map[*schema.Message][]meta.GroupVersionKind {
	all := map[*schema.Message][]meta.GroupVersionKind{}
	add := func(k *schema.Kind) {
		if m := k.Message(); !slices.Contains(all[m], k.GroupVersionKind) {
			all[m] = append(all[m], k.GroupVersionKind)
		}
	}
	for _, k := range kinds {
		if !k.IsCustom() {
			add(k)
		}
		for i := range k.Subresources {
			if s := &k.Subresources[i]; s.BodyKind != nil && !s.Connects {
				add(s.BodyKind)
			}
		}
	}
	return all
}
