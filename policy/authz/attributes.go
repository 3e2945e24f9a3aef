package authz

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

// Attributes are what is decided about: a user and what the request asks for.
type Attributes struct {
	User *authn.User
	// Verb is one of the API (get, list, watch, create, update, patch, delete,
	// deletecollection) or, for a path, the HTTP method in lower case.
	Verb string
	// ResourceRequest tells a request for a resource, which the next six fields
	// describe, from one for a Path.
	ResourceRequest                                              bool
	Group, Version, Resource, Subresource, Namespace, Name, Path string
	// Selectors narrow a list, a watch or a deletecollection; nil if nothing does.
	Selectors *Selectors
}

// ReadOnly tells that the request changes nothing.
func (a Attributes) ReadOnly() bool {
	return a.Verb == "get" || a.Verb == "list" || a.Verb == "watch"
}

// ForbiddenMessage is the message of a 403, in the words that users know. reason may be "".
func (a Attributes) ForbiddenMessage(reason string) string {
	text := a.target() + fmt.Sprintf("forbidden: User %q cannot %s ", a.userName(), a.Verb)
	if a.ResourceRequest {
		text += fmt.Sprintf("resource %q in API group %q %s", a.resourcePath(), a.Group, a.scope())
	} else {
		text += fmt.Sprintf("path %q", a.Path)
	}
	if reason != "" {
		text += ": " + reason
	}
	return text
}

// Forbidden is the 403 that refuses the request. reason may be "".
func (a Attributes) Forbidden(reason string) *meta.Status {
	s := &meta.Status{Code: 403, Reason: meta.ReasonForbidden, Message: a.ForbiddenMessage(reason), Details: &meta.Details{}}
	if a.ResourceRequest {
		s.Details.Group, s.Details.Kind, s.Details.Name = a.Group, a.Resource, a.Name
	}
	return s
}

// target is how the message begins: `pods.group "name" is `, or "" for a path.
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
