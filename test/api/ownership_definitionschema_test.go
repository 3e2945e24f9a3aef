package api

import (
	"fmt"
	"strings"

	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/troupe-api/troupe/test/client"
)

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

func (d *scenario) structural() *structuralschema.Structural {
	d.Helper()
	text := client.Encode(d, d.schema)
	var external v1.JSONSchemaProps
	client.Decode(d, text, &external)
	var internal extensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		d.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		d.Fatal(err)
	}
	return structural
}

// models returns the OpenAPI models of the CRD, built as in kube-apiserver.
func (d *scenario) models(structural *structuralschema.Structural) map[string]*spec.Schema {
	d.Helper()
	widget := structural.ToKubeOpenAPI()
	widget.AddExtension("x-kubernetes-embedded-resource", true)
	embed(widget)
	kind := d.kind()
	widget.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}})
	models := map[string]*spec.Schema{"widget": widget}
	for name, definition := range generated.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/components/schemas/" + path) }) {
		if strings.HasPrefix(name, strings.TrimSuffix(objectMeta, "ObjectMeta")) {
			models[name] = &definition.Schema
		}
	}
	return models
}

// embed adds the fields kind and metadata to the embedded resources in a schema.
func embed(s *spec.Schema) {
	if s == nil {
		return
	}
	for name, field := range s.Properties {
		embed(&field)
		s.Properties[name] = field
	}
	if s.Items != nil {
		embed(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		embed(s.AdditionalProperties.Schema)
	}
	if is, _ := s.Extensions.GetBool(embedded); is {
		s.SetProperty("apiVersion", *spec.StringProperty())
		s.SetProperty("kind", *spec.StringProperty())
		s.SetProperty("metadata", *spec.RefSchema("#/components/schemas/" + objectMeta))
	}
}

type singleVersion struct{ *structuralschema.Structural }

func (singleVersion) Convert(in, out, context any) error { return fmt.Errorf("not asked for") }

func (singleVersion) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (singleVersion) ConvertFieldLabel(_ kschema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (o singleVersion) Default(object runtime.Object) {
	tree := object.(*unstructured.Unstructured).Object
	defaulting.PruneNonNullableNullsWithoutDefaults(tree, o.Structural)
	defaulting.Default(tree, o.Structural)
	withoutNulls(tree)
	_ = objectmeta.Coerce(nil, tree, o.Structural, true, true)
}

func (singleVersion) New(kind kschema.GroupVersionKind) (runtime.Object, error) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(kind)
	return out, nil
}
