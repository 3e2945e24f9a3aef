package http

import (
	"errors"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// create answers 201 with the new object.
func (s *Server) create(x *requestContext) error {
	return s.write(x, "CreateOptions", func(object tree.Tree) request.Change { return request.Create{Object: object} })
}

// update answers 200, or 201 if it created the object.
func (s *Server) update(x *requestContext) error {
	return s.write(x, "UpdateOptions", func(object tree.Tree) request.Change { return request.Update{Object: object} })
}

// write makes a change whose body is the whole object.
func (s *Server) write(x *requestContext, options string, change func(tree.Tree) request.Change) error {
	o, err := params.ParseWrite(s.names.MetaGroup, options, x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	object, warnings, err := s.decodeObject(x, o.Validation)
	if err != nil {
		return err
	}
	m := s.newMutation(x, change(object), o)
	if err := x.matchBodyToPath(&m, object); err != nil {
		return err
	}
	if request.Is[request.Update](&m) {
		s.requireCreateRight(x, &m)
	}
	return s.mutate(x, m, warnings)
}

// newMutation is a mutation of the object that the path names, as its user asks for it.
//
// The admission is chosen here, once, for the user and the kind; the store calls it without knowing either.
func (s *Server) newMutation(x *requestContext, change request.Change, o params.Write) request.Mutation {
	key := x.info.Key(x.kind)
	return request.Mutation{
		Kind: x.kind, Key: key, Subresource: x.info.Subresource, Change: change,
		DryRun: o.DryRun, FieldValidation: o.Validation, FieldManager: o.FieldManager, Named: o.Named,
		Admission: s.opts.Admission.For(x.attributes.User, x.kind, x.info.Subresource, key.Namespace),
		Recorder:  new(request.Recorder),
	}
}

// matchBodyToPath checks that the body names the object that the path names, and takes from it the
// name that the path of a create does not hold.
//
// The path is what was authorized, so the body must not name anything else. An empty namespace is filled in; an empty
// name is only taken from the body where the path has none. What is created at an object checks the name itself.
func (x *requestContext) matchBodyToPath(m *request.Mutation, object tree.Tree) error {
	head, _ := object["metadata"].(tree.Tree)
	if head == nil {
		head = tree.Tree{}
		object["metadata"] = head
	}
	name, _ := head["name"].(string)
	namespace, _ := head["namespace"].(string)
	switch {
	case x.kind.Namespaced && namespace == "":
		head["namespace"] = m.Key.Namespace
	case x.kind.Namespaced && namespace != "" && namespace != m.Key.Namespace:
		return apierrors.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	creates := request.Is[request.Create](m)
	switch {
	case creates && m.Subresource == "":
		m.Key.Name = name
	case name == "" && request.Is[request.Update](m):
		return apierrors.BadRequest("the name of the object (" + m.Key.Name + " based on URL) was undeterminable: name must be provided")
	case name != "" && name != m.Key.Name && !creates:
		return apierrors.BadRequest("the name of the object (" + name + ") does not match the name on the URL (" + m.Key.Name + ")")
	}
	return nil
}

// mutate asks the store for the change and answers the object.
//
// Warnings go out with an error too: they may explain it.
func (s *Server) mutate(x *requestContext, m request.Mutation, warnings []string) error {
	if err := represent.CheckShape(x.bodyKind, x.format, x.target.Query); err != nil {
		return err
	}
	if m.CreateRefusal == nil {
		if err := s.opts.Admission.Provision(x.deadlineCtx, &m); err != nil {
			return err
		}
	}
	result, err := s.opts.Store.Mutate(x.deadlineCtx, m)
	x.addWarnings(warnings)
	x.addRecorded(m.Recorder)
	if err != nil {
		return err
	}
	if result.Created || request.Is[request.Create](&m) {
		x.ctx.SetStatusCode(201)
	}
	if result.Object == nil { // a sub-resource that is an operation, as a binding
		s.writeStatus(x, &meta.Status{Code: x.ctx.Response.StatusCode(), Success: true})
		return nil
	}
	return s.writeObject(x, result.Object)
}

// patch answers the patched object.
func (s *Server) patch(x *requestContext) error {
	contentType, _, _ := strings.Cut(string(x.ctx.Request.Header.ContentType()), ";")
	switch strings.ToLower(strings.TrimSpace(contentType)) {
	case negotiate.TypeJSONPatch:
		return s.patchAs(x, request.JSONPatch)
	case negotiate.TypeMergePatch:
		return s.patchAs(x, request.MergePatch)
	case negotiate.TypeStrategicPatch:
		if !x.bodyKind.IsCustom() {
			return s.patchAs(x, request.StrategicMergePatch)
		}
	case negotiate.TypeApplyPatch:
		return s.apply(x, negotiate.YAML)
	case negotiate.TypeApplyPatchCBOR:
		if s.opts.CBOR {
			return s.apply(x, negotiate.CBOR)
		}
	}
	return apierrors.UnsupportedMedia(s.patchTypes(x))
}

// patchAs is a patch of any type but an apply, whose body only the store understands.
//
// The body is copied: the request may give up at its deadline while its mutation still waits for its turn.
func (s *Server) patchAs(x *requestContext, of request.PatchType) error {
	o, err := params.ParseWrite(s.names.MetaGroup, "PatchOptions", x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	body, err := s.readBody(x)
	if err != nil {
		return err
	}
	m := s.newMutation(x, request.Patch{Type: of, Body: append([]byte(nil), body...)}, o)
	x.auditRequestPatch(body)
	return s.redactInvalid(x, s.mutate(x, m, nil))
}

// redactedCause replaces the text that would show a value.
const redactedCause = "Invalid value: not shown, because you may not get the object"

// redactInvalid is the refusal of a patch without the values of the object, unless the user may read the
// object.
//
// The right to patch is not the right to read. Without this a patch that makes an object invalid would show, in the
// refusal, the values around the fault.
func (s *Server) redactInvalid(x *requestContext, err error) error {
	var status *meta.Status
	if !errors.As(err, &status) || status.Reason != meta.ReasonInvalid || status.Details == nil || len(status.Details.Causes) == 0 {
		return err
	}
	a := x.attributes
	a.Verb = "get"
	if decision, _ := s.decide(x, a); decision == authz.Allow {
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
