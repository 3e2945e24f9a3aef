package http

import (
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// authorize finds out whether the user may do it.
//
// A method that a resource never has is a 405 before anybody's rights are looked at: it says nothing about what there
// is.
func (s *Server) authorize(x *requestContext) error {
	if x.info.IsResource && x.info.Verb == "" && x.info.Subresource != "proxy" {
		return apierrors.MethodNotAllowed()
	}
	decision, reason := s.decide(x, x.attributes)
	if x.audit != nil {
		x.audit.SetDecision(decision, reason)
	}
	if decision != authz.Allow {
		return x.attributes.Forbidden(reason)
	}
	return nil
}

// requireCreateRight sees to it that an update or an apply, which creates an object that does not exist, does
// so only for a user who may create it. It asks beforehand, because an authorizer may take its time, and
// the owner of an object may not wait for it.
func (s *Server) requireCreateRight(x *requestContext, m *request.Mutation) {
	if m.Subresource != "" || request.Is[request.Update](m) && !m.Kind.Writes.CreateOnUpdate {
		return
	}
	a := x.attributes
	a.Verb = "create"
	decision, reason := s.decide(x, a)
	if decision != authz.Allow {
		m.CreateRefusal = a.Forbidden(reason)
	}
}

// setAttributes makes the attributes of a request of user, which is nil for a request refused before its user is known.
//
// Selectors are only read for the verbs that use them. The delete of a collection gets no name from a selector: an
// object's name must not give a right that the verb does not have on it alone.
func (s *Server) setAttributes(x *requestContext, user *authn.User) {
	i, a := &x.info, &x.attributes
	*a = authz.Attributes{
		User: user, Verb: i.Verb, ResourceRequest: i.IsResource, Path: i.Path,
		Group: i.Group, Version: i.Version, Resource: i.Resource, Subresource: i.Subresource,
		Namespace: i.Namespace, Name: i.Name,
	}
	if x.target.Query == "" || i.Verb != "list" && i.Verb != "watch" && i.Verb != "deletecollection" {
		return
	}
	fields, labels := x.target.Query.Get("fieldSelector"), x.target.Query.Get("labelSelector")
	if fields != "" || labels != "" {
		a.Selectors = authz.ReadSelectors(fields, labels)
	}
	if fields != "" && a.Name == "" && i.Verb != "deletecollection" {
		a.Name = s.selectedName(i, a.Selectors, fields)
	}
}

// selectedName is the one name to which the field selector of a list or a watch confines
// it, so that whoever may read that object may read it this way as well.
//
// Example: fieldSelector=metadata.name=x on a list is the name x. A name that could not be one segment of a path is
// none.
//
// Of what another server serves nobody here knows the fields: there the selector counts as it reads.
func (s *Server) selectedName(i *requestinfo.Info, all *authz.Selectors, text string) string {
	var name string
	switch kind := s.opts.Catalog.Kind(i.Group, i.Version, i.Resource); {
	case kind != nil:
		if fields, err := selector.ParseFields(kind, text); err == nil {
			name, _ = fields.Name()
		}
	case s.opts.Servers != nil && s.opts.Servers.Find(i.Group, i.Version) != nil:
		name, _ = all.Field("metadata.name")
	}
	if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		return ""
	}
	return name
}
