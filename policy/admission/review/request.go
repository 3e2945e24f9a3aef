package review

import (
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/match"
)

const fieldsOfRequest = 13

// Request returns an AdmissionReview request with an empty UID and without objects. kind and
// resource have the version that the webhook matches. requestKind and requestResource have the
// client's version.
func (v *View) Request(naming *meta.Naming) tree.Tree {
	a := v.attributes
	t := make(tree.Tree, fieldsOfRequest)
	t["uid"], t["operation"], t["dryRun"], t["options"] = "", match.OperationOf(a).String(), a.DryRun(), v.options(naming)
	t["kind"], t["resource"] = kindTree(v.BodyKind), resourceTree(v.kind)
	t["requestKind"], t["requestResource"] = t["kind"], t["resource"]
	if v.kind != a.Kind {
		t["requestKind"] = kindTree(convert.BodyKind(a.Kind, a.Kind.Subresource(a.Subresource)))
		t["requestResource"] = resourceTree(a.Kind)
	}
	t["userInfo"] = tree.Tree{}
	if a.User != nil {
		t["userInfo"] = a.User.Tree()
	}
	setText(t, "subResource", a.Subresource)
	setText(t, "requestSubResource", a.Subresource)
	setText(t, "namespace", match.NamespaceOf(a))
	setText(t, "name", v.name())
	return t
}

// name returns the name in the request, or the generated name of a new object. While BeforeCreation
// hides the generated name, name returns "".
func (v *View) name() string {
	if v.generatesName() {
		return v.Object.Name()
	}
	if c, _ := v.attributes.Mutation.Change.(request.Create); v.attributes.Subresource == "" && c.Object != nil {
		return c.Object.Name() // an admission plugin may have renamed the object
	}
	return v.attributes.Key.Name
}

func setText(t tree.Tree, name, text string) {
	if text != "" {
		t[name] = text
	}
}

func kindTree(k *schema.Kind) tree.Tree {
	return tree.Tree{"group": k.Group, "version": k.Version, "kind": k.Kind}
}

func resourceTree(k *schema.Kind) tree.Tree {
	return tree.Tree{"group": k.Group, "version": k.Version, "resource": k.Resource}
}

// options returns the request's options, or nil for a connect. As in Kubernetes, a patch has
// UpdateOptions, or CreateOptions if it creates the object.
func (v *View) options(naming *meta.Naming) any {
	a, m := v.attributes, v.attributes.Mutation
	t := tree.Tree{"apiVersion": naming.Translate("meta.platform.io/v1")}
	if m.DryRun {
		t["dryRun"] = []any{"All"}
	}
	options, isDelete := m.Change.(request.Delete)
	switch o := match.OperationOf(a); {
	case o == match.Connect:
		return nil
	case o == match.Delete && isDelete:
		t["kind"] = "DeleteOptions"
		deleteOptions(t, options)
		return t
	case o == match.Create:
		t["kind"] = "CreateOptions"
	default:
		t["kind"] = "UpdateOptions"
	}
	setText(t, "fieldManager", m.Named.FieldManager)
	setText(t, "fieldValidation", m.Named.FieldValidation)
	return t
}

func deleteOptions(t tree.Tree, o request.Delete) {
	if o.GracePeriodSeconds != nil {
		t["gracePeriodSeconds"] = *o.GracePeriodSeconds
	}
	setText(t, "propagationPolicy", o.PropagationPolicy)
	preconditions := tree.Tree{}
	if o.UID != nil {
		preconditions["uid"] = *o.UID
	}
	if o.ResourceVersion != nil {
		preconditions["resourceVersion"] = *o.ResourceVersion
	}
	if len(preconditions) > 0 {
		t["preconditions"] = preconditions
	}
}
