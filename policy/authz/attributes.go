package authz

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// Attributes describe a request for authorization.
type Attributes struct {
	User *authn.User
	// Verb is an API verb (get, list, watch, create, update, patch, delete, deletecollection) or,
	// for a path, the HTTP method in lower case.
	Verb string
	// ResourceRequest says that the request is for a resource, in the next six fields, rather than
	// for a Path.
	ResourceRequest                                              bool
	Group, Version, Resource, Subresource, Namespace, Name, Path string
	// Selectors restrict a list, watch or deletecollection, or are nil.
	Selectors *Selectors
}

// ReadOnly reports whether the request changes nothing.
func (a Attributes) ReadOnly() bool {
	return a.Verb == "get" || a.Verb == "list" || a.Verb == "watch"
}

// maxForbidden bounds the message of a 403 without its reason, because anyone can send long paths.
const maxForbidden = 2 << 10

// ForbiddenMessage returns the message of a 403 in the words of kube-apiserver. reason may be "".
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

// Forbidden returns the 403 for the request. reason may be "".
func (a Attributes) Forbidden(reason string) *meta.Status {
	s := &meta.Status{Code: 403, Reason: meta.ReasonForbidden, Message: a.ForbiddenMessage(reason), Details: &meta.Details{}}
	if a.ResourceRequest {
		s.Details.Group, s.Details.Kind, s.Details.Name = a.Group, a.Resource, a.Name
	}
	return s
}

// target returns the beginning of the message: `pods.group "name" is `, or "" for a path.
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
