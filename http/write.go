package http

import (
	"errors"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

func (s *Server) write(x *requestContext) error {
	options := "UpdateOptions"
	if x.info.Verb == "create" {
		options = "CreateOptions"
	}
	o, err := params.ParseWrite(s.names.MetaGroup, options, x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	object, warnings, err := s.decodeObject(x, o.Validation)
	if err != nil {
		return err
	}
	var change request.Change = request.Update{Object: object}
	if x.info.Verb == "create" {
		change = request.Create{Object: object}
	}
	m := s.newMutation(x, change, o)
	if err := x.matchBodyToPath(&m, object); err != nil {
		return err
	}
	if x.info.Verb == "update" {
		s.requireCreateRight(x, &m)
	}
	return s.mutate(x, m, warnings)
}

func (s *Server) newMutation(x *requestContext, change request.Change, o params.Write) request.Mutation {
	key := x.info.Key(x.kind)
	return request.Mutation{
		Kind: x.kind, Key: key, Subresource: x.info.Subresource, Change: change,
		DryRun: o.DryRun, FieldValidation: o.Validation, FieldManager: o.FieldManager, Named: o.Named,
		Admission: s.opts.Admission.For(x.attributes.User, x.kind, x.info.Subresource, key.Namespace),
		Recorder:  new(request.Recorder),
	}
}

// matchBodyToPath checks that the body names the object in the path, for which the user is
// authorized. It fills in an empty namespace. It takes the name of a new object from the body, and
// does not check the name when a subresource is created.
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

// mutate executes the mutation and responds with the object. It sends warnings even with an error,
// because they may explain it.
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
	if result.Object == nil { // a subresource that is an operation, such as a binding
		s.writeStatus(x, &meta.Status{Code: x.ctx.Response.StatusCode(), Success: true})
		return nil
	}
	return s.writeObject(x, result.Object)
}

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

// patchAs handles a patch other than an apply. It copies the body, because the request may time out
// while its mutation is still queued.
func (s *Server) patchAs(x *requestContext, of request.PatchType) error {
	o, err := params.ParseWrite(s.names.MetaGroup, "PatchOptions", x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return err
	}
	body, err := s.readBody(x)
	if err != nil {
		return err
	}
	if !jsontext.Valid(body) {
		return apierrors.BadRequest("invalid JSON patch")
	}
	m := s.newMutation(x, request.Patch{Type: of, Body: append([]byte(nil), body...)}, o)
	x.auditRequestPatch(body)
	return s.redactInvalid(x, s.mutate(x, m, nil))
}

const redactedCause = "Invalid value: not shown, because the user may not get the object"

// redactInvalid removes the object's values from the error for an invalid patch, unless the user
// may read the object.
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
		causes[i].Field, _, _ = strings.Cut(causes[i].Field, "[") // keys may be secret too
		causes[i].Message = redactedCause
	}
	d := status.Details
	return meta.NewInvalid(meta.GroupKind{Group: d.Group, Kind: d.Kind}, d.Name, causes)
}
