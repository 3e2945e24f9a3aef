package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// AdminAccess refuses claims to devices that others use, their templates, and what the scheduler gives to them, in
// namespaces without the label that allows it: whoever may make claims somewhere would otherwise reach into the work of
// others. It always runs. What is there already stays, as its namespace had the label once.
func AdminAccess(naming *meta.Naming, objects MetaReader) admission.Registration {
	return admission.Registration{
		Resources: []string{
			"resource.platform.io/resourceclaims", "resource.platform.io/resourceclaimtemplates", "resource.platform.io/resourceclaims/status",
		},
		Plugin: request.Plugin{Operations: request.OnCreate | request.OnUpdate, SkipsNoOps: true, Validator: adminAccess{objects: objects, label: naming.Translate("resource.platform.io/admin-access")}},
	}
}

// adminAccess needs only the labels of namespaces.
type adminAccess struct {
	request.HandlesAll
	objects MetaReader
	label   string
}

// Validate implements request.Validator. The spec of what is there cannot change.
func (p adminAccess) Validate(a *request.Attributes) error {
	path := ""
	switch {
	case a.Subresource == "status":
		if grantedAt(a.Old) == "" {
			path = grantedAt(a.New)
		}
	case a.IsCreate():
		path = requestedAt(a.New)
	}
	if path == "" {
		return nil
	}
	namespace, _ := p.objects.GetMeta(meta.GroupResource{Resource: "namespaces"}, "", a.Key.Namespace)
	if value, _ := namespace.Labels.Get(p.label); value == "true" {
		return nil
	}
	return meta.NewInvalid(meta.GroupKind{Group: a.Kind.Group, Kind: a.Kind.Kind}, a.Key.Name, []meta.Cause{{
		Type: meta.CauseForbidden, Field: path,
		Message: fmt.Sprintf("Forbidden: admin access to devices requires the `%s: true` label on the containing namespace", p.label),
	}})
}

// requestedAt is the first request of a claim, or of those of a template, that asks for access as an administrator; "" if
// none does. The path is that of the first versions for all, as clients know it. Choices cannot ask for it.
func requestedAt(object tree.Tree) string {
	spec := object.Object("spec")
	if template := spec.Object("spec"); template != nil {
		spec = template
	}
	for i, r := range spec.Object("devices").Objects("requests") {
		if r.Object("exactly").Bool("adminAccess") {
			return tree.IndexPath("spec.devices.requests", i) + ".adminAccess"
		}
	}
	return ""
}

// grantedAt is the first device that a claim has with access as an administrator; "" if there is none.
func grantedAt(claim tree.Tree) string {
	for i, r := range claim.Object("status", "allocation", "devices").Objects("results") {
		if r.Bool("adminAccess") {
			return tree.IndexPath("status.allocation.devices.results", i) + ".adminAccess"
		}
	}
	return ""
}
