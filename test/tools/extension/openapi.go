package main

import (
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

func definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	all := generated.GetOpenAPIDefinitions(ref)
	const metrics, meta = "io.k8s.metrics.pkg.apis.metrics.v1beta1.", "io.k8s.apimachinery.pkg.apis.meta.v1."
	reference := func(name string) spec.Schema { return spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(name)}} }
	object := func(description string, properties map[string]spec.Schema, dependencies ...string) common.OpenAPIDefinition {
		for _, name := range []string{"apiVersion", "kind"} {
			properties[name] = *spec.StringProperty()
		}
		return common.OpenAPIDefinition{
			Schema:       spec.Schema{SchemaProps: spec.SchemaProps{Description: description, Type: []string{"object"}, Properties: properties}},
			Dependencies: dependencies,
		}
	}
	for _, kind := range []string{"NodeMetrics", "PodMetrics"} {
		item := reference(metrics + kind)
		all[metrics+kind] = object(kind+" sets resource usage metrics.", map[string]spec.Schema{
			"metadata": reference(meta + "ObjectMeta"), "timestamp": *spec.DateTimeProperty(), "window": *spec.StringProperty(),
		}, meta+"ObjectMeta")
		all[metrics+kind+"List"] = object("A list of "+kind+".", map[string]spec.Schema{
			"metadata": reference(meta + "ListMeta"), "items": *spec.ArrayProperty(&item),
		}, meta+"ListMeta", metrics+kind)
	}
	return all
}
