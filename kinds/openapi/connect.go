package openapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Subresources that open a connection. Their responses have no definition, because the server only
// forwards them; generated clients get a text.

// connectMethods are the methods by whether the subresource is proxy, which forwards any request;
// others are only opened.
var connectMethods = map[bool][]string{
	true:  {"get", "put", "post", "delete", "options", "head", "patch"},
	false: {"get", "post"},
}

// connectEndpoints returns the paths of a subresource below path. A proxy has a second one with the
// path at the other end.
func connectEndpoints(k *schema.Kind, s *schema.Subresource, path string) []endpoint {
	e := endpoint{kind: k, sub: s, hasName: true, path: path, verbs: s.Verbs}
	if s.Name != "proxy" {
		return []endpoint{e}
	}
	behind := e
	behind.path, behind.hasPath = path+"/{path}", true
	return []endpoint{e, behind}
}

// connectItem describes such a path. A log is read like an object; other subresources have an
// options kind.
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

// connectID returns the id and description of an operation, as in
// "connectCoreV1PostNamespacedPodProxyWithPath".
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

// connectParameters returns options and path parameters, sorted by name. They are not shared
// parameters, because a name means something else in each subresource.
func (b *builder) connectParameters(p endpoint) []any {
	all := []parameter{nameParameter}
	if p.kind.Namespaced {
		all = append(all, namespaceParameter)
	}
	if p.hasPath {
		all = append(all, parameter{"path", "path", "string", "The path at the other end."})
	}
	if p.sub.BodyKind == nil {
		all = append(all, logParameters...)
	} else {
		for _, f := range p.sub.BodyKind.Message().Fields {
			all = append(all, query(f.Name, optionTypes[f.Type], f.Doc))
		}
	}
	slices.SortStableFunc(all, func(a, b parameter) int { return cmp.Compare(a.name, b.name) })
	out := make([]any, len(all))
	for i, one := range all {
		out[i] = b.dialect.parameters(all[i : i+1])[0]
		if !b.dialect.v3 && !slices.Contains([]parameter{nameParameter, namespaceParameter, prettyParameter}, one) {
			out[i] = one.in2()
		}
	}
	return out
}

// optionTypes are the types of options. For a list, the parameter is repeated and has the type of
// an item.
var optionTypes = map[schema.Type]string{
	schema.TypeString: "string", schema.TypeBool: "boolean", schema.TypeInt32: "integer", schema.TypeInt64: "integer",
}

// logParameters are the parameters of a log, sorted by name, except for sinceTime, for which
// clients have no type.
var logParameters = []parameter{
	query("container", "string", "The container; the only one if left out."),
	query("follow", "boolean", "Go on with what is written from now on."),
	query("insecureSkipTLSVerifyBackend", "boolean", "Do not verify the certificate of the Node's agent. A man in the middle can then change the response."),
	query("limitBytes", "integer", "At most so many bytes."),
	prettyParameter,
	query("previous", "boolean", "The log of the container that ran before the present one."),
	query("sinceSeconds", "integer", "Only what is not older than so many seconds."),
	query("stream", "string", "\"All\", \"Stdout\" or \"Stderr\". The default is \"All\"."),
	query("tailLines", "integer", "At most so many lines, the last ones."),
	query("timestamps", "boolean", "Begin each line with its time."),
}
