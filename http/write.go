package http

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// create answers 201 with the new object.
func (s *Server) create(x *requestContext) error {
	return s.createOrUpdate(x, request.Create, "CreateOptions")
}

// update answers 200, or 201 if it created the object.
func (s *Server) update(x *requestContext) error {
	return s.createOrUpdate(x, request.Update, "UpdateOptions")
}

// createOrUpdate is a write whose body is the whole object.
func (s *Server) createOrUpdate(x *requestContext, verb request.Verb, options string) error {
	o, err := s.parseWriteOptions(options, x.query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	tree, warnings, err := s.decodeObject(x, o.validation)
	if err != nil {
		return err
	}
	m := s.newMutation(x, verb, o)
	m.Object = tree
	if err := x.matchBodyToPath(&m, tree); err != nil {
		return err
	}
	if verb == request.Update {
		s.requireCreateRight(x, &m)
	}
	return s.mutate(x, m, warnings)
}

// newMutation is a mutation of the object that the path names, as its user asks for it.
func (s *Server) newMutation(x *requestContext, verb request.Verb, o writeOptions) request.Mutation {
	key := x.info.Key(x.kind)
	return request.Mutation{
		Verb: verb, Kind: x.kind, Key: key, Subresource: x.info.Subresource,
		DryRun: o.dryRun, FieldValidation: o.validation, FieldManager: o.fieldManager,
		Admission: s.opts.Admission.For(x.user, x.kind, x.info.Subresource, key),
		Waiting:   s.opts.Admission.Waiting(x.user, x.kind, x.info.Subresource),
	}
}

// matchBodyToPath checks that the body names the object that the path names, and takes from it the
// name that the path of a create does not hold.
func (x *requestContext) matchBodyToPath(m *request.Mutation, object tree.Tree) error {
	head, _ := object["metadata"].(tree.Tree)
	if head == nil {
		head = tree.Tree{}
		object["metadata"] = head
	}
	name, _ := head["name"].(string)
	namespace, _ := head["namespace"].(string)
	own := m.Subresource == "" || m.Verb == request.Update
	switch {
	case x.kind.Namespaced && namespace == "" && own:
		head["namespace"] = m.Key.Namespace
	case x.kind.Namespaced && namespace != "" && namespace != m.Key.Namespace:
		return apierrors.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	switch {
	case m.Verb == request.Create && m.Subresource == "":
		m.Key.Name = name
	case name == "" && m.Verb == request.Update:
		return apierrors.BadRequest("the name of the object (" + m.Key.Name + " based on URL) was undeterminable: name must be provided")
	case name != "" && name != m.Key.Name:
		return apierrors.BadRequest("the name of the object (" + name + ") does not match the name on the URL (" + m.Key.Name + ")")
	}
	return nil
}

// mutate asks the store for the change and answers the object.
func (s *Server) mutate(x *requestContext, m request.Mutation, warnings []string) error {
	if err := checkObjectShape(x); err != nil {
		return err
	}
	result, err := s.opts.Store.Mutate(x.deadlineCtx, m)
	x.addWarnings(warnings)
	if err != nil {
		return err
	}
	x.addWarnings(result.Warnings)
	if result.Created || m.Verb == request.Create {
		x.ctx.SetStatusCode(201)
	}
	if result.Object == nil { // a sub-resource that is an operation, as a binding
		s.writeStatus(x, &meta.Status{Code: x.ctx.Response.StatusCode(), Success: true})
		return nil
	}
	return s.writeObject(x, result.Object)
}

// checkObjectShape tells, before a change is made, whether one object can be answered in the shape
// that the client wants to have it in.
func checkObjectShape(x *requestContext) error {
	switch x.format.Shape {
	case negotiate.PartialList:
		return errNotList(x.bodyKind)
	case negotiate.Table:
		_, err := includeObject(x)
		return err
	}
	return nil
}

// patch answers the patched object.
func (s *Server) patch(x *requestContext) error {
	m := s.newMutation(x, request.Patch, writeOptions{})
	contentType, _, _ := strings.Cut(string(x.ctx.Request.Header.ContentType()), ";")
	switch strings.ToLower(strings.TrimSpace(contentType)) {
	case negotiate.TypeJSONPatch:
		m.PatchType = request.JSONPatch
	case negotiate.TypeMergePatch:
		m.PatchType = request.MergePatch
	case negotiate.TypeStrategicPatch:
		if x.bodyKind.JSONOnly {
			return apierrors.UnsupportedMedia(s.patchTypes(x))
		}
		m.PatchType = request.StrategicMergePatch
	case negotiate.TypeApplyPatch:
		return s.apply(x)
	default:
		return apierrors.UnsupportedMedia(s.patchTypes(x))
	}
	o, err := s.parseWriteOptions("PatchOptions", x.query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	body, err := s.readBody(x)
	if err != nil {
		return err
	}
	m.DryRun, m.FieldValidation, m.FieldManager = o.dryRun, o.validation, o.fieldManager
	m.PatchBody = append([]byte(nil), body...)
	x.auditRequestPatch(body)
	return s.redactInvalid(x, s.mutate(x, m, nil))
}

// redactedCause replaces the text that would show a value.
const redactedCause = "Invalid value: not shown, because you may not get the object"

// redactInvalid is the refusal of a patch without the values of the object, unless the user may read the
// object.
func (s *Server) redactInvalid(x *requestContext, err error) error {
	var status *meta.Status
	if !errors.As(err, &status) || status.Reason != meta.ReasonInvalid || status.Details == nil || len(status.Details.Causes) == 0 {
		return err
	}
	a := s.attributes(x)
	a.Verb = "get"
	if decision, _ := s.opts.Authorizer.Authorize(a); decision == authz.Allow {
		return err
	}
	causes := slices.Clone(status.Details.Causes)
	for i := range causes {
		causes[i].Field, _, _ = strings.Cut(causes[i].Field, "[") // keys are values as well
		causes[i].Message = redactedCause
	}
	d := status.Details
	return meta.NewInvalid(meta.GroupKind{Group: d.Group, Kind: d.Kind}, d.Name, causes)
}

// delete answers a Status, or the object where its kind says so or it is still there.
func (s *Server) delete(x *requestContext) error {
	o, d, err := s.deleteOptions(x)
	if err != nil {
		return err
	}
	if err := checkObjectShape(x); err != nil {
		return err
	}
	m := s.newMutation(x, request.Delete, o)
	m.Delete = d
	result, err := s.opts.Store.Mutate(x.deadlineCtx, m)
	if err != nil {
		return err
	}
	x.addWarnings(result.Warnings)
	if !result.Deleted || x.kind.DeleteReturnsObject {
		return s.writeObject(x, result.Object)
	}
	s.writeStatus(x, &meta.Status{Success: true, Details: &meta.Details{
		Name: x.info.Name, Group: x.kind.Group, Kind: x.kind.Resource, UID: result.Object.Meta.UID,
	}})
	return nil
}

// deleteCollection answers a Status.
func (s *Server) deleteCollection(x *requestContext) error {
	lo, err := s.parseListOptions(x.kind, x.query, false)
	if err != nil {
		return err
	}
	l, err := lo.listRequest(x.kind, &x.info)
	if err != nil {
		return err
	}
	o, d, err := s.deleteOptions(x)
	if err != nil {
		return err
	}
	m := s.newMutation(x, request.Delete, o)
	m.Delete = d
	if _, err := s.opts.Store.DeleteCollection(x.deadlineCtx, l, m); err != nil {
		return err
	}
	s.writeStatus(x, &meta.Status{Success: true, Details: &meta.Details{Group: x.kind.Group, Kind: x.kind.Resource}})
	return nil
}

// readBody is the body of the request, valid while the request is.
func (s *Server) readBody(x *requestContext) ([]byte, error) {
	if e := x.ctx.Request.Header.ContentEncoding(); len(e) > 0 && string(e) != "identity" {
		return nil, &meta.Status{
			Code: 415, Reason: meta.ReasonUnsupportedMediaType,
			Message: "the content encoding " + strconv.Quote(string(e)) + " is not supported",
		}
	}
	body, err := s.receiveBody(x)
	if err != nil {
		return nil, err
	}
	if x.audit != nil && len(body) > 0 {
		x.audit.SetHasRequestBody()
	}
	return body, nil
}
