package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// AdminAccess returns the plugin that allows device claims with admin access only in labeled
// namespaces. Such claims can access devices that are in use. The plugin cannot be disabled. It
// does not affect existing claims.
func AdminAccess(naming *meta.Naming, objects MetaReader) admission.Registration {
	return admission.Register("AdminAccess", adminAccess{objects: objects, label: naming.Translate("resource.platform.io/admin-access")})
}

type adminAccess struct {
	request.HandlesAll
	objects MetaReader
	label   string
}

// Validate checks the spec only on create, because a claim's spec is immutable.
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
	return a.Invalid([]meta.Cause{{
		Type: meta.CauseForbidden, Field: path,
		Message: fmt.Sprintf("Forbidden: admin access to devices requires the `%s: true` label on the containing namespace", p.label),
	}})
}

// requestedAt returns the field path of the first device request with admin access, or "". The path
// is that of version v1beta1, even for objects of other versions and for templates. Prioritized
// alternatives (firstAvailable) cannot request admin access.
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

func grantedAt(claim tree.Tree) string {
	for i, r := range claim.Object("status", "allocation", "devices").Objects("results") {
		if r.Bool("adminAccess") {
			return tree.IndexPath("status.allocation.devices.results", i) + ".adminAccess"
		}
	}
	return ""
}
