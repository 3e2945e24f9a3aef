package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (i inventory) addResources(text []byte) error {
	var list metav1.APIResourceList
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	for _, r := range list.APIResources {
		name, scope := list.GroupVersion+"/"+r.Name, "Cluster"
		if r.Namespaced {
			scope = "Namespaced"
		}
		i.add("resources", name, "kind", r.Kind)
		i.add("resources", name, "scope", scope)
		i.add("resources", name, "verbs", r.Verbs...)
		if r.SingularName != "" {
			i.add("resources", name, "names", append(r.ShortNames, r.SingularName)...)
		}
		if len(r.Categories) > 0 {
			i.add("resources", name, "categories", r.Categories...)
		}
	}
	return nil
}

// A document contains the compared parts of an OpenAPI v3 document.
type document struct {
	Paths      map[string]pathItem
	Components struct{ Schemas map[string]property }
}

type pathItem struct {
	Parameters                                   []parameter
	Get, Put, Post, Delete, Options, Head, Patch *operation
}

type parameter struct{ Name string }

type operation struct {
	Action      string `json:"x-kubernetes-action"`
	Parameters  []parameter
	RequestBody content
	Responses   map[string]content
}

type content struct{ Content map[string]any }

type property struct {
	Ref                  string `json:"$ref"`
	AllOf                []property
	Type, Format         string
	Items                *property
	AdditionalProperties *property
	Properties           map[string]property
	Required             []string
	Default              json.RawMessage
	Enum                 []string
	ListType             string   `json:"x-kubernetes-list-type"`
	ListMapKeys          []string `json:"x-kubernetes-list-map-keys"`
	MergeKey             string   `json:"x-kubernetes-patch-merge-key"`
	MergeStrategy        string   `json:"x-kubernetes-patch-strategy"`
}

// addOpenAPI adds the schemas, operations and paths of an OpenAPI v3 document.
func (i inventory) addOpenAPI(text []byte) error {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("OpenAPI: %w", err)
	}
	for path, p := range d.Paths {
		for _, o := range []*operation{p.Get, p.Put, p.Post, p.Delete, p.Options, p.Head, p.Patch} {
			switch {
			case o == nil:
			case o.Action == "":
				i.add("paths", path, "")
			default:
				i.addOperation(append(p.Parameters, o.Parameters...), o)
			}
		}
	}
	for name, schema := range d.Components.Schemas {
		i.add("schemas", name, "")
		for field, p := range schema.Properties {
			i.add("schemas", name, field, p.attributes()...)
		}
		for _, field := range schema.Required {
			i.add("schemas", name, field, "required")
		}
	}
	return nil
}

func (i inventory) addOperation(parameters []parameter, o *operation) {
	for _, p := range parameters {
		i.add("operations", o.Action, p.Name)
	}
	for media := range o.RequestBody.Content {
		i.add("operations", o.Action, "accepts", media)
	}
	for media := range o.Responses["200"].Content {
		i.add("operations", o.Action, "returns", media)
	}
}

// attributes returns a field's type and markers. It omits zero-value defaults, which Kubernetes
// publishes for every field that is not a pointer.
func (p property) attributes() []string {
	all := []string{p.typeName()}
	for name, value := range map[string]string{
		"listType": p.ListType, "listMapKeys": strings.Join(p.ListMapKeys, "+"), "mergeKey": p.MergeKey, "mergeStrategy": p.MergeStrategy,
	} {
		if value != "" {
			all = append(all, name+"="+value)
		}
	}
	if value := string(p.Default); !slices.Contains([]string{"", `""`, "0", "false", "{}"}, value) {
		all = append(all, "default="+value)
	}
	for _, of := range []*property{&p, p.Items, p.AdditionalProperties} {
		if of != nil {
			for _, value := range of.Enum {
				all = append(all, "enum="+value)
			}
		}
	}
	return all
}

func (p property) typeName() string {
	switch {
	case len(p.AllOf) > 0:
		return p.AllOf[0].typeName()
	case p.Ref != "":
		return strings.TrimPrefix(p.Ref, "#/components/schemas/")
	case p.Items != nil:
		return "[]" + p.Items.typeName()
	case p.AdditionalProperties != nil:
		return "map:" + p.AdditionalProperties.typeName()
	case p.Format != "":
		return p.Type + ":" + p.Format
	}
	return p.Type
}
