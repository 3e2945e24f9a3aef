package openapi

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A place is where something of a kind is served: a collection, the same in all
// namespaces, an object, or a sub-resource.
type place struct {
	kind *schema.Kind
	sub  *schema.Subresource // nil for the main resource
	// everywhere: all namespaces at once.
	everywhere bool
	single     bool // one object, or a sub-resource of one
	path       string
	verbs      []string
}

// places lists those of a kind that have a verb.
func places(k *schema.Kind) []place {
	base := "/" + groupVersion(k.Group, k.Version) + "/"
	scoped := base
	if k.Namespaced {
		scoped += "namespaces/{namespace}/"
	}
	all := []place{
		{kind: k, path: scoped + k.Resource, verbs: only(k.Verbs, "create", "list", "deletecollection")},
		{kind: k, path: scoped + k.Resource + "/{name}", single: true, verbs: only(k.Verbs, "get", "update", "patch", "delete")},
	}
	for i := range k.Subresources {
		s := &k.Subresources[i]
		all = append(all, place{
			kind: k, sub: s, path: scoped + k.Resource + "/{name}/" + s.Name, single: true,
			verbs: only(s.Verbs, "get", "update", "patch", "create", "delete"),
		})
	}
	if k.Namespaced {
		all = append(all, place{kind: k, path: base + k.Resource, everywhere: true, verbs: only(k.Verbs, "list")})
	}
	return slices.DeleteFunc(all, func(p place) bool { return len(p.verbs) == 0 })
}

// only are the wanted verbs that a resource has.
func only(verbs []string, wanted ...string) (some []string) {
	for _, v := range wanted {
		if slices.Contains(verbs, v) {
			some = append(some, v)
		}
	}
	return some
}

// methods are those of verbs.
var methods = map[string]string{
	"get": "get", "list": "get", "create": "post", "update": "put", "patch": "patch",
	"delete": "delete", "deletecollection": "delete",
}

// pathItem describes a place.
func (b *builder) pathItem(p place) object {
	var parameters []parameter
	if p.single {
		parameters = append(parameters, nameParameter)
	}
	if p.kind.Namespaced && !p.everywhere {
		parameters = append(parameters, namespaceParameter)
	}
	item := object{{"parameters", b.dialect.parameters(append(parameters, prettyParameter))}}
	for _, verb := range p.verbs {
		item = item.with(methods[verb], b.operation(b.verb(p, verb)))
	}
	return item
}

// verb is the operation of a verb at a place.
func (b *builder) verb(p place, verb string) operation {
	k := p.kind
	o := operation{
		tag: b.names.tag(k.Group, k.Version), kind: k.GroupVersionKind, action: methods[verb],
		consumes: anything, produces: b.answers, codes: []int{200}, deprecated: k.Deprecation != nil,
	}
	o.id, o.description = b.title(p, verb)
	object := b.definitions.kind(k)
	if p.sub != nil && p.sub.Speaks != nil {
		o.kind, object = p.sub.Speaks.GroupVersionKind, b.definitions.kind(p.sub.Speaks)
	}
	o.answer = object
	switch verb {
	case "list":
		o.action, o.parameters, o.produces = "list", listParameters, b.lists
		o.answer = b.definitions.list(k, b.meta("ListMeta"))
	case "create":
		o.parameters, o.body, o.codes = writeParameters, object, []int{200, 201, 202}
	case "update":
		o.parameters, o.body, o.codes = writeParameters, object, []int{200, 201}
	case "patch":
		o.parameters, o.body, o.codes = patchParameters, b.patch(), []int{200, 201}
		o.consumes = b.patchTypes(k)
	case "delete":
		o.parameters, o.body, o.optional = deleteParameters, b.metaRef("DeleteOptions"), true
		o.codes = []int{200, 202}
		if !k.DeleteReturnsObject {
			o.answer = b.metaRef("Status")
		}
	case "deletecollection":
		o.action, o.parameters = "deletecollection", deleteCollectionParameters
		o.body, o.optional, o.answer = b.metaRef("DeleteOptions"), true, b.metaRef("Status")
	}
	return o
}

// doing is how operations are named and described by verb.
var doing = map[string]struct{ id, text string }{
	"get": {"read", "read"}, "list": {"list", "list or watch"}, "create": {"create", "create"},
	"update": {"replace", "replace"}, "patch": {"patch", "change parts of"},
	"delete": {"delete", "delete"}, "deletecollection": {"delete", "delete a collection of"},
}

// title makes the name of an operation, as in "replaceAppsV1NamespacedDeploymentScale",
// and its description.
func (b *builder) title(p place, verb string) (id, description string) {
	k := p.kind
	id = doing[verb].id + b.names.operations(k.Group, k.Version)
	description = doing[verb].text + " "
	if verb == "deletecollection" {
		id += "Collection"
	}
	if k.Namespaced && !p.everywhere {
		id += "Namespaced"
	}
	id += k.Kind
	switch {
	case p.sub != nil:
		return id + titled(p.sub.Name), description + p.sub.Name + " of one " + k.Kind
	case p.everywhere:
		return id + "ForAllNamespaces", description + "objects of kind " + k.Kind + " in all namespaces"
	case verb == "list" || verb == "deletecollection":
		return id, description + "objects of kind " + k.Kind
	case verb == "create":
		return id, description + "a " + k.Kind
	}
	return id, description + "one " + k.Kind
}

// A fixed path holds a document about the API itself.
type fixed struct {
	path, id, tag, description string
	message                    string // of package meta.v1; "": the version
}

func (b *builder) fixedItem(f fixed) object {
	o := operation{
		id: f.id, tag: f.tag, description: f.description, consumes: anything,
		produces: []string{typeJSON}, codes: []int{200},
	}
	if f.message == "" {
		o.answer = b.versionInfo()
	} else {
		o.answer = b.metaRef(f.message)
	}
	return object{{"get", b.operation(o)}}
}

// resources is the path of a version's list of resources.
func (n names) resources(group, version string) fixed {
	return fixed{
		"/" + groupVersion(group, version), "get" + n.operations(group, version) + "APIResources",
		n.tag(group, version), "list the resources of the version", "APIResourceList",
	}
}

// about is the path of a group's description.
func (n names) about(group string) fixed {
	word := n.group(group)
	return fixed{"/apis/" + group, "get" + titled(word) + "APIGroup", word, "describe the group", "APIGroup"}
}

// The paths that every server has.
var (
	corePath    = fixed{"/api", "getCoreAPIVersions", "core", "list the versions of the core group", "APIVersions"}
	groupsPath  = fixed{"/apis", "getAPIVersions", "apis", "list the groups", "APIGroupList"}
	versionPath = fixed{"/version", "getCodeVersion", "version", "tell the version of the server", ""}
)

// gvks lists what each message is served as.
func gvks(kinds []*schema.Kind) map[*schema.Message][]meta.GroupVersionKind {
	all := map[*schema.Message][]meta.GroupVersionKind{}
	add := func(k *schema.Kind) {
		if !slices.Contains(all[k.Message], k.GroupVersionKind) {
			all[k.Message] = append(all[k.Message], k.GroupVersionKind)
		}
	}
	for _, k := range kinds {
		add(k)
		for i := range k.Subresources {
			if s := k.Subresources[i].Speaks; s != nil {
				add(s)
			}
		}
	}
	return all
}
