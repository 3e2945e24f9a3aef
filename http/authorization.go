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

// authorize checks whether the user may make the request. A method that no resource supports is
// rejected with 405 before authorization, which does not reveal the existing objects.
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

// requireCreateRight checks in advance whether the user may create the object of an update or
// apply. If not, the request fails only if it would create the object. Checking later would block
// the object's actor while the authorizer runs.
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

// setAttributes sets the authorization attributes of a request. user is nil if the request was
// rejected before or during authentication. Selectors are set only for list, watch and
// deletecollection. Name is never set for deletecollection, because permission to delete one object
// must not imply permission to delete the collection.
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

// selectedName returns x if a list or watch has the field selector metadata.name=x, and otherwise
// "". This lets users list or watch a single object for which they are authorized. selectedName
// ignores names that cannot be a path segment. It does not validate the selectors of aggregated
// resources, because their fields are unknown.
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
