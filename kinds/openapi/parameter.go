package openapi

import (
	_ "embed"
	"sync"

	"sigs.k8s.io/yaml"
)

type parameter struct{ Name, In, Type, Description string }

//go:embed parameters.yaml
var parameterTable []byte

type parameters struct {
	Name, Namespace, Path, Pretty                             parameter
	List, Write, Patch, Delete, DeleteCollection, Shared, Log []parameter
}

var standard = sync.OnceValue(func() (p parameters) {
	if err := yaml.UnmarshalStrict(parameterTable, &p); err != nil {
		panic(err) // the table is embedded
	}
	return p
})

func (p parameter) in2() object {
	o := object{{"description", p.Description}, {"in", p.In}, {"name", p.Name}}
	if p.In == "path" {
		o = o.with("required", true)
	}
	return append(o, member{"type", p.Type}, member{"uniqueItems", true})
}

func (p parameter) in3() object {
	o := object{{"description", p.Description}, {"in", p.In}, {"name", p.Name}}
	if p.In == "path" {
		o = o.with("required", true)
	}
	return o.with("schema", object{{"type", p.Type}, {"uniqueItems", true}})
}

// parameters returns references to shared parameters in version 2. In version 3, it returns
// complete parameters, because clients expect them in the operation.
func (d dialect) parameters(list []parameter) []any {
	all := make([]any, len(list))
	for i, p := range list {
		if d.v3 {
			all[i] = p.in3()
		} else {
			all[i] = object{{"$ref", "#/parameters/" + p.Name}}
		}
	}
	return all
}
