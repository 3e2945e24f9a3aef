package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/client"
)

// keptMetadata maps kinds to the metadata fields that a status write must not change, as in
// kube-apiserver's strategies. A status write may change all others.
var keptMetadata = map[string][]string{
	"APIService":                 {"annotations", "finalizers", "labels", "ownerReferences"},
	"CSINode":                    {"annotations", "finalizers", "labels", "ownerReferences"},
	"Deployment":                 {"labels"},
	"DeviceTaintRule":            {"annotations", "finalizers", "labels", "ownerReferences"},
	"FlowSchema":                 {"annotations", "finalizers", "labels", "ownerReferences"},
	"Pod":                        {"ownerReferences"},
	"PodCertificateRequest":      {"annotations", "finalizers", "labels", "ownerReferences"},
	"PriorityLevelConfiguration": {"annotations", "finalizers", "labels", "ownerReferences"},
	"ResourceClaim":              {"annotations", "finalizers", "labels", "ownerReferences"},
	"ServiceCIDR":                {"annotations", "finalizers", "labels", "ownerReferences"},
	"StorageVersionMigration":    {"annotations", "finalizers", "labels", "ownerReferences"},
	"ValidatingAdmissionPolicy":  {"annotations", "finalizers", "labels", "ownerReferences"},
	"Widget":                     {"annotations", "finalizers", "labels", "ownerReferences"}, // stands for all custom kinds
	"VolumeAttachment":           {"annotations", "finalizers", "labels", "ownerReferences"},
}

var statusMetadata = map[string]any{
	"annotations":     map[string]any{"by.status/a": "1"},
	"finalizers":      []any{"by.status/f"},
	"labels":          map[string]any{"by.status/l": "1"},
	"ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "Node", "name": "by-status", "uid": "by-status"}},
}

// TestStatusMetadata checks, for each verb, that a status write changes only the metadata fields
// that kube-apiserver permits for the kind. The writer must own exactly those fields.
func TestStatusMetadata(t *testing.T) { eachKind(t, 20, hasStatus, reaches) }

// TestCustomStatusMetadata checks that a status write to a custom resource changes no metadata.
func TestCustomStatusMetadata(t *testing.T) {
	t.Parallel()
	c := caller{t, client.Serve(t, t.TempDir(), func(c *daemon.Config) { c.Naming, c.Controllers = "kubernetes", client.KeepingControllers })}
	k, o := define(c)
	reaches(c, k, o)
}

// define creates a CRD with a status subresource. It returns the kind and a custom object.
func define(c caller) (*schema.Kind, map[string]any) {
	c.Helper()
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	c.do(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", nil, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "widgets.example.com"},
		"spec": map[string]any{"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": "widgets", "kind": "Widget"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"status": open}}}}}},
	}, 201)
	return &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, Resource: "widgets", Namespaced: true},
		map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "labels": map[string]any{"a": "b"}}}
}

func reaches(c caller, k *schema.Kind, o map[string]any) {
	path := collection(k)
	one := path + "/" + o["metadata"].(map[string]any)["name"].(string)
	c.do(http.MethodPost, path, nil, mergeCatalog(o, map[string]any{"status": nil}), 201)
	before := c.do(http.MethodGet, one, nil, nil, 200)
	asked := mergeCatalog(before, map[string]any{"metadata": statusMetadata})
	whole := c.do(http.MethodPut, one+"/status", nil, asked, 200)
	c.reached(k, before, whole, "update")
	before.Metadata()["resourceVersion"] = whole.Metadata()["resourceVersion"]
	c.do(http.MethodPut, one, nil, before, 200)
	patch := []byte(`{"metadata":` + compact(statusMetadata) + `}`)
	c.reached(k, before, c.do(http.MethodPatch, one+"/status", nil, patch, 200), "patch")
}

// reached checks the effect of a status write on the fields of statusMetadata. All of them must
// have changed and be owned by the writer, except those that keptMetadata lists for the kind.
func (c caller) reached(k *schema.Kind, before, after client.Object, verb string) {
	c.Helper()
	owned := ""
	for _, entry := range after.Metadata()["managedFields"].([]any) {
		if entry := entry.(map[string]any); entry["subresource"] == "status" {
			owned += compact(entry["fieldsV1"])
		}
	}
	for name, asked := range statusMetadata {
		want := compact(mergeCatalog(map[string]any{name: before.Metadata()[name]}, map[string]any{name: asked})[name])
		kept := slices.Contains(keptMetadata[k.Kind], name)
		if kept {
			want = compact(before.Metadata()[name])
		}
		if got := compact(after.Metadata()[name]); got != want {
			c.Errorf("%s: metadata.%s is %s, want %s", verb, name, got, want)
		}
		if own := strings.Contains(owned, fmt.Sprintf(`"f:%s":`, name)); own == kept {
			c.Errorf("%s: the writer of the status owns %s", verb, owned)
		}
	}
}
