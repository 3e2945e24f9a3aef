package openapi

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

const (
	typeJSON           = "application/json"
	typeYAML           = "application/yaml"
	typeCBOR           = "application/cbor"
	typeCBORSequence   = "application/cbor-seq"
	typeStrategicPatch = "application/strategic-merge-patch+json"
)

var anyMediaType = []string{"*/*"}

// A builder builds one document and is used once.
//
// It writes the paths first, which collects the definitions. It rebuilds the document for the hash
// and for each format, because a tree in memory would take megabytes.
type builder struct {
	Options
	names       names
	dialect     dialect
	definitions definitions
	objectTypes []string // media types of objects
	listTypes   []string // media types of lists and watches
}

func newBuilder(o Options, d dialect) *builder {
	n := newNames(o.Naming)
	protobuf := o.Naming.ProtobufMediaType()
	answers := []string{typeJSON, typeYAML, protobuf}
	watches := []string{typeJSON + ";stream=watch", protobuf + ";stream=watch"}
	if o.CBOR {
		answers, watches = append(answers, typeCBOR), append(watches, typeCBORSequence)
	}
	return &builder{
		Options: o, names: n, dialect: d,
		definitions: definitions{names: n, dialect: d, kinds: o.gvks, objectMeta: o.Message("meta.v1.ObjectMeta"), builders: map[string]func() object{}},
		objectTypes: answers,
		listTypes:   slices.Concat(answers, watches),
	}
}

func (b *builder) meta(name string) *schema.Message { return b.Message("meta.v1." + name) }

func (b *builder) metaRef(name string) string { return b.definitions.message(b.meta(name)) }

func (b *builder) patch() string {
	name := b.names.apimachinery("apis.meta.v1.Patch")
	b.definitions.add(name, func() object {
		return object{{"description", "A patch in the format of its media type."}, {"type", "object"}}
	})
	return name
}

func (b *builder) watchEvent() string {
	name := b.names.apimachinery("apis.meta.v1.WatchEvent")
	b.definitions.add(name, func() object {
		return object{
			{"description", "WatchEvent is one event of a watch."}, {"type", "object"},
			{"required", []string{"type", "object"}},
			{"properties", object{
				{"object", object{{"description", "The changed object, in its last state if it was deleted, or a Status if the event is an error."}, {"type", "object"}}},
				{"type", object{{"type", "string"}}},
			}},
			{b.names.extension("group-version-kind"), []any{gvkObject(meta.GroupVersionKind{Version: "v1", Kind: "WatchEvent"})}},
		}
	})
	return name
}

// patchTypes returns the patch media types of a kind. Custom kinds lack strategic merge patches,
// because CRDs declare no merge strategies.
func (b *builder) patchTypes(k *schema.Kind) []string {
	if !k.IsCustom() {
		return b.Patches
	}
	return slices.DeleteFunc(slices.Clone(b.Patches), func(t string) bool { return t == typeStrategicPatch })
}

func (b *builder) versionInfo() string {
	name := b.names.apimachinery("version.Info")
	b.definitions.add(name, func() object {
		optional := []string{"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"}
		fields := []string{"buildDate", "compiler", "gitCommit", "gitTreeState", "gitVersion", "goVersion", "major", "minor", "platform"}
		var properties object
		for _, f := range slices.Sorted(slices.Values(slices.Concat(fields, optional))) {
			properties = properties.with(f, object{{"type", "string"}})
		}
		return object{
			{"description", "The version of the server."}, {"type", "object"},
			{"required", fields}, {"properties", properties},
		}
	})
	return name
}

// paths yields the paths of a scope. Afterward, the definitions are complete.
func (b *builder) paths(s scope) entries {
	return func(yield func(string, object) bool) {
		written := map[string]bool{}
		for _, f := range s.metaEndpoints {
			written[f.path] = true
			if !yield(f.path, b.metaPathItem(f)) {
				return
			}
		}
		for _, k := range s.kinds {
			for _, p := range endpoints(k) {
				written[p.path] = true
				if !yield(p.path, b.pathItem(p)) {
					return
				}
			}
		}
		b.remotePaths(s, written, yield)
	}
}

func (b *builder) document(s scope) object {
	info := object{{"title", "Troupe"}, {"version", b.Version}}
	token := object{{"BearerToken", object{
		{"description", "a bearer token"}, {"type", "apiKey"}, {"name", "authorization"}, {"in", "header"},
	}}}
	security := []any{object{{"BearerToken", []string{}}}}
	if b.dialect.v3 {
		return object{
			{"openapi", "3.0.0"}, {"info", info}, {"paths", b.paths(s)},
			{"components", object{{"schemas", entries(b.definitions.sorted)}, {"securitySchemes", token}}},
			{"security", security},
		}
	}
	return object{
		{"swagger", "2.0"}, {"info", info}, {"paths", b.paths(s)},
		{"definitions", entries(b.definitions.sorted)}, {"parameters", b.parameters(s)},
		{"securityDefinitions", token}, {"security", security},
	}
}
