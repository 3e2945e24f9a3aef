package http

import (
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
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
	a := s.attributes(x)
	decision, reason := s.decide(x, *a)
	if x.audit != nil {
		x.audit.SetDecision(decision, reason)
	}
	if decision != authz.Allow {
		return a.Forbidden(reason)
	}
	return nil
}

// requireCreateRight sees to it that an update or an apply, which creates an object that does not exist, does
// so only for a user who may create it. It asks beforehand, because an authorizer may take its time, and
// the owner of an object may not wait for it.
func (s *Server) requireCreateRight(x *requestContext, m *request.Mutation) {
	if m.Subresource != "" || m.Verb == request.Update && !m.Kind.Writes.CreateOnUpdate {
		return
	}
	a := *s.attributes(x)
	a.Verb = "create"
	decision, reason := s.decide(x, a)
	if decision != authz.Allow {
		m.CreateRefusal = a.Forbidden(reason)
	}
}

// attributes are what flow control and authorization decide on. They are made once, when it is known who asks and as whom; who needs
// others makes a copy.
func (s *Server) attributes(x *requestContext) *authz.Attributes {
	if x.asked.User == nil {
		x.asked = s.readAttributes(x)
	}
	return &x.asked
}

// readAttributes makes the attributes of a request.
//
// Selectors are only read for the verbs that use them. The delete of a collection gets no name from a selector: an
// object's name must not give a right that the verb does not have on it alone.
func (s *Server) readAttributes(x *requestContext) authz.Attributes {
	i := &x.info
	a := authz.Attributes{
		User: x.user, Verb: i.Verb, ResourceRequest: i.IsResource, Path: i.Path,
		Group: i.Group, Version: i.Version, Resource: i.Resource, Subresource: i.Subresource,
		Namespace: i.Namespace, Name: i.Name,
	}
	if x.query == "" || i.Verb != "list" && i.Verb != "watch" && i.Verb != "deletecollection" {
		return a
	}
	fields, labels := x.query.Get("fieldSelector"), x.query.Get("labelSelector")
	if fields != "" || labels != "" {
		a.Selectors = authz.ReadSelectors(fields, labels)
	}
	if fields != "" && a.Name == "" && i.Verb != "deletecollection" {
		a.Name = s.selectedName(i, a.Selectors, fields)
	}
	return a
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
