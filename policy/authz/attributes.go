package authz

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// Attributes describes a request to be authorized.
type Attributes struct {
	User *authn.User
	// Verb is an API verb (get, list, watch, create, update, patch, delete, deletecollection). For
	// a non-resource path, it is the HTTP method in lower case.
	Verb string
	// ResourceRequest reports whether the next six fields describe a resource. Otherwise, the
	// request is for Path.
	ResourceRequest                                              bool
	Group, Version, Resource, Subresource, Namespace, Name, Path string
	// Selectors restricts a list, watch or deletecollection. It may be nil.
	Selectors *Selectors
}

// ReadOnly reports whether the verb only reads resources.
func (a Attributes) ReadOnly() bool {
	return a.Verb == "get" || a.Verb == "list" || a.Verb == "watch"
}

// maxForbidden is the maximum length of a 403 message in bytes, excluding the reason.
const maxForbidden = 2 << 10

// ForbiddenMessage returns kube-apiserver's message for a 403. reason may be empty.
func (a Attributes) ForbiddenMessage(reason string) string {
	text := a.target() + fmt.Sprintf("forbidden: User %q cannot %s ", a.userName(), a.Verb)
	if a.ResourceRequest {
		text += fmt.Sprintf("resource %q in API group %q %s", a.resourcePath(), a.Group, a.scope())
	} else {
		text += fmt.Sprintf("path %q", a.Path)
	}
	text = meta.CutText(text, maxForbidden)
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// Forbidden returns the 403 Status for the request. reason may be empty.
func (a Attributes) Forbidden(reason string) *meta.Status {
	s := &meta.Status{Code: 403, Reason: meta.ReasonForbidden, Message: a.ForbiddenMessage(reason), Details: &meta.Details{}}
	if a.ResourceRequest {
		s.Details.Group, s.Details.Kind, s.Details.Name = a.Group, a.Resource, a.Name
	}
	return s
}

// target returns the start of ForbiddenMessage: `pods.group "name" is `, or "" for a non-resource
// path.
func (a Attributes) target() string {
	if !a.ResourceRequest {
		return ""
	}
	text := a.Resource
	if a.Group != "" {
		text += "." + a.Group
	}
	if a.Name != "" {
		text += fmt.Sprintf(" %q", a.Name)
	}
	return text + " is "
}

func (a Attributes) userName() string {
	if a.User == nil {
		return ""
	}
	return a.User.Name
}

func (a Attributes) resourcePath() string {
	if a.Subresource == "" {
		return a.Resource
	}
	return a.Resource + "/" + a.Subresource
}

func (a Attributes) scope() string {
	if a.Namespace == "" {
		return "at the cluster scope"
	}
	return fmt.Sprintf("in the namespace %q", a.Namespace)
}
