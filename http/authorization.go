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
func (s *Server) authorize(x *requestContext) error {
	if x.info.IsResource && x.info.Verb == "" {
		return apierrors.MethodNotAllowed()
	}
	a := s.attributes(x)
	decision, reason := s.opts.Authorizer.Authorize(a)
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
	if m.Subresource != "" || m.Verb == request.Update && !m.Kind.CreateOnUpdate {
		return
	}
	a := s.attributes(x)
	a.Verb = "create"
	if decision, reason := s.opts.Authorizer.Authorize(a); decision != authz.Allow {
		m.Admission = updateOnly{m.Admission, a.Forbidden(reason)}
	}
}

// updateOnly is the admission of a mutation that may change an object but not create it.
type updateOnly struct {
	next    request.Admission // nil: there is none
	refusal error             // of a create
}

// Applies implements request.Admission.
func (e updateOnly) Applies(operation request.Verb) bool {
	return operation == request.Create || e.next != nil && e.next.Applies(operation)
}

// Admit implements request.Admission.
func (e updateOnly) Admit(c request.Change) error {
	switch {
	case c.Old == nil:
		return e.refusal
	case e.next == nil || !e.next.Applies(c.Operation()):
		return nil
	}
	return e.next.Admit(c)
}

// Validate implements request.Admission.
func (e updateOnly) Validate(c request.Change) error {
	if e.next == nil || !e.next.Applies(c.Operation()) {
		return nil
	}
	return e.next.Validate(c)
}

// attributes are what authorization decides on.
func (s *Server) attributes(x *requestContext) authz.Attributes {
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
		a.Name = s.selectedName(i, fields)
	}
	return a
}

// selectedName is the one name to which the field selector of a list or a watch confines
// it, so that whoever may read that object may read it this way as well.
func (s *Server) selectedName(i *requestinfo.Info, text string) string {
	kind := s.opts.Catalog.Kind(i.Group, i.Version, i.Resource)
	if kind == nil {
		return ""
	}
	fields, err := selector.ParseFields(kind, text)
	name, ok := fields.Name()
	if err != nil || !ok || name == "." || name == ".." || strings.ContainsAny(name, "/%") {
		return ""
	}
	return name
}
