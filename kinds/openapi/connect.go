package openapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Connect subresources open a connection. Their responses have no definition, because the server
// only proxies them. Generated clients return a string.

// connectMethods lists the methods of connect subresources. The key is true for proxy, which
// forwards all requests, and false for those that only open a connection.
var connectMethods = map[bool][]string{
	true:  {"get", "put", "post", "delete", "options", "head", "patch"},
	false: {"get", "post"},
}

func connectEndpoints(k *schema.Kind, s *schema.Subresource, path string) []endpoint {
	e := endpoint{kind: k, sub: s, hasName: true, path: path, verbs: s.Verbs}
	if s.Name != "proxy" {
		return []endpoint{e}
	}
	behind := e
	behind.path, behind.hasPath = path+"/{path}", true
	return []endpoint{e, behind}
}

// connectItem returns the path item of a connect subresource. The log subresource supports only
// GET. Others support all methods in connectMethods.
func (b *builder) connectItem(p endpoint) object {
	parameters := b.connectParameters(p)
	if p.sub.BodyKind == nil {
		o := b.connection(p)
		o.id, o.description = b.operationID(p, "get")
		o.action, o.produces = "get", append([]string{"text/plain"}, b.objectTypes...)
		return object{{"get", b.operation(o)}, {"parameters", parameters}}
	}
	item := object{{"parameters", parameters}}
	for _, method := range connectMethods[p.sub.Name == "proxy"] {
		o := b.connection(p)
		o.kind, o.action = p.sub.BodyKind.GroupVersionKind, "connect"
		o.id, o.description = b.connectID(p, method)
		item = item.with(method, b.operation(o))
	}
	return item
}

func (b *builder) connection(p endpoint) operation {
	k := p.kind
	return operation{
		tag: b.names.tag(k.Group, k.Version), kind: k.GroupVersionKind,
		consumes: anyMediaType, produces: anyMediaType, statusCodes: []int{200},
	}
}

// connectID returns an operation's ID, such as "connectCoreV1PostNamespacedPodProxyWithPath", and
// its description.
func (b *builder) connectID(p endpoint, method string) (id, description string) {
	id = "connect" + b.names.operations(p.kind.Group, p.kind.Version) + capitalize(method)
	if p.kind.Namespaced {
		id += "Namespaced"
	}
	id += p.kind.Kind + capitalize(p.sub.Name)
	if p.hasPath {
		id += "WithPath"
	}
	return id, "connect " + strings.ToUpper(method) + " requests to " + p.sub.Name + " of " + p.kind.Kind
}

// connectParameters returns the option and path parameters, sorted by name. Subresources do not
// share definitions of parameters, because a name may have different meanings.
func (b *builder) connectParameters(p endpoint) []any {
	all := []parameter{standard().Name}
	if p.kind.Namespaced {
		all = append(all, standard().Namespace)
	}
	if p.hasPath {
		all = append(all, standard().Path)
	}
	if p.sub.BodyKind == nil {
		all = append(all, standard().Log...)
	} else {
		for _, f := range p.sub.BodyKind.Message().Fields {
			all = append(all, parameter{f.Name, "query", optionTypes[f.Type], f.Doc})
		}
	}
	slices.SortStableFunc(all, func(a, b parameter) int { return cmp.Compare(a.Name, b.Name) })
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = b.dialect.parameters(all[i : i+1])[0]
		if !b.dialect.v3 && !slices.Contains([]parameter{standard().Name, standard().Namespace, standard().Pretty}, one) {
			out[i] = one.in2()
		}
	}
	return out
}

// optionTypes maps field types to parameter types. A list becomes a repeated parameter with the
// type of an item.
var optionTypes = map[schema.Type]string{
	schema.TypeString: "string", schema.TypeBool: "boolean", schema.TypeInt32: "integer", schema.TypeInt64: "integer",
}
