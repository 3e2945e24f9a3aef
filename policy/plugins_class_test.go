package policy_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/admission/plugins"
)

func class(created, annotation, more string) string {
	return `{"metadata":{"creationTimestamp":"` + created + `","annotations":{"` + annotation + `":"true"}}` + more + `}`
}

func TestDefaultClasses(t *testing.T) {
	const storage, beta, ingress = "storageclass.platform.io/is-default-class", "storageclass.beta.platform.io/is-default-class", "ingressclass.platform.io/is-default-class"
	const early, late = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
	for _, c := range []struct {
		name, storage, ingress string // expected defaults
		classes                map[string]string
	}{
		{"none", "", "", nil},
		{"no default", "", "", map[string]string{"a": `{}`, "b": strings.ReplaceAll(class(early, storage, ""), "true", "TRUE")}},
		{"one", "b", "b", map[string]string{"a": `{}`, "b": `{"metadata":{"annotations":{"` + storage + `":"true","` + ingress + `":"true"}}}`}},
		{"one in beta", "b", "", map[string]string{"a": `{}`, "b": class(early, beta, "")}},
		{"the newest", "c", "", map[string]string{"a": class(early, storage, ""), "c": class(late, beta, ""), "d": class(early, storage, "")}},
		{"the newest", "", "c", map[string]string{"a": class(early, ingress, ""), "c": class(late, ingress, ""), "d": class(early, ingress, "")}},
		{"by name", "", "b", map[string]string{"d": class(early, ingress, ""), "b": class(early, ingress, "")}},
	} {
		chain := newChain(t, objectsOf(t, c.classes), plugins.DefaultStorageClass(meta.Platform, plugins.NewStorageClasses(meta.Platform)),
			plugins.DefaultIngressClass(meta.Platform, plugins.NewIngressClasses(meta.Platform)))
		claim, wanted := `{"metadata":{},"spec":{}}`, func(field, class string) string {
			if class == "" {
				return ""
			}
			return `{"metadata":{},"spec":{"` + field + `":"` + class + `"}}`
		}
		for _, test := range []admissionTest{
			{resource: "/persistentvolumeclaims", new: claim, want: wanted("storageClassName", c.storage)},
			{resource: "/persistentvolumeclaims", new: `{"spec":{"storageClassName":""}}`},
			{resource: "/persistentvolumeclaims", new: `{"metadata":{"annotations":{"volume.beta.platform.io/storage-class":""}}}`},
			{resource: "/persistentvolumeclaims", old: claim, new: claim},
			{resource: "networking.platform.io/ingresses", new: claim, want: wanted("ingressClassName", c.ingress)},
			{resource: "networking.platform.io/ingresses", new: `{"spec":{"ingressClassName":"x"}}`},
			{resource: "networking.platform.io/ingresses", new: `{"metadata":{"annotations":{"platform.io/ingress.class":""}}}`},
			{resource: "networking.platform.io/ingresses", old: claim, new: claim},
		} {
			test.name = c.name
			test.run(t, chain)
		}
	}
}

func TestPersistentVolumeClaimResize(t *testing.T) {
	chain := newChain(t, objectsOf(t, map[string]string{"fixed": `{}`, "grows": `{"allowVolumeExpansion":true}`}),
		plugins.PersistentVolumeClaimResize(meta.Platform, plugins.NewStorageClasses(meta.Platform)))
	claim := func(class, size, phase string) string {
		return `{"spec":{"resources":{"requests":{"storage":"` + size + `"}},"storageClassName":"` + class + `"},"status":{"phase":"` + phase + `"}}`
	}
	const unbound, unsupported = "Only bound persistent volume claims can be expanded", "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
	const annotated = `{"metadata":{"annotations":{"volume.beta.platform.io/storage-class":"grows"}},"spec":{"resources":{"requests":{"storage":"2Gi"}}},"status":{"phase":"Bound"}}`
	for _, test := range []admissionTest{
		{name: "it grows", old: claim("grows", "1Gi", "Bound"), new: claim("grows", "2Gi", "Bound")},
		{name: "by annotation", old: strings.ReplaceAll(annotated, "2Gi", "1Gi"), new: annotated},
		{name: "not bound", old: claim("grows", "1Gi", "Pending"), new: claim("grows", "2Gi", "Bound"), fault: unbound},
		{name: "fixed", old: claim("fixed", "1Gi", "Bound"), new: claim("fixed", "2Gi", "Bound"), fault: unsupported},
		{name: "no class", old: claim("", "1Gi", "Bound"), new: claim("", "2Gi", "Bound"), fault: unsupported},
		{name: "a class that is gone", old: claim("gone", "1Gi", "Bound"), new: claim("gone", "2Gi", "Bound"), fault: unsupported},
		{name: "another class", old: claim("fixed", "1Gi", "Bound"), new: claim("grows", "2Gi", "Bound"), fault: unsupported},
		{name: "less", old: claim("fixed", "1Gi", "Pending"), new: claim("fixed", "1", "Pending")},
		{name: "as much in other words", old: claim("fixed", "1Gi", "Pending"), new: claim("fixed", "1024Mi", "Pending")},
		{name: "a create", new: claim("fixed", "1Gi", "")},
		{name: "a delete", old: claim("fixed", "1Gi", "")},
	} {
		test.resource = "/persistentvolumeclaims"
		test.run(t, chain)
	}
}
