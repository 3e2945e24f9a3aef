package api

import (
	"reflect"

	"k8s.io/api-v0.35/autoscaling/v2beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/troupe-api/troupe/kinds/meta"
)

func gvk(g meta.GroupVersionKind) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: g.Group, Version: g.Version, Kind: g.Kind}
}

// publicTypes returns the struct types of all kinds in client-go's scheme and, recursively, of
// their fields.
func publicTypes() (all []reflect.Type) {
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			visit(t.Elem())
		case reflect.Struct:
			all = append(all, t)
			for i := range t.NumField() {
				if f := t.Field(i); f.IsExported() {
					visit(f.Type)
				}
			}
		}
	}
	for _, t := range scheme.Scheme.AllKnownTypes() {
		visit(t)
	}
	for _, v := range []any{version.Info{}, metav1.APIVersions{}, metav1.APIGroupList{}, metav1.APIResourceList{}, v2beta2.HorizontalPodAutoscalerList{}} {
		visit(reflect.TypeOf(v))
	}
	return all
}

func modelNames() map[string]bool {
	names := map[string]bool{}
	for _, t := range publicTypes() {
		if name := modelName(t); name != "" {
			names[name] = true
		}
	}
	return names
}
