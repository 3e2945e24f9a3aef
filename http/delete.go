package http

import (
	"errors"
	"fmt"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/params"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/policy/authz"
)

// delete deletes one object. If it removes the object immediately, the response is a Status, or for
// some kinds the deleted object. If finalizers or a grace period delay the removal, the response is
// the object with its deletion timestamp.
func (s *Server) delete(x *requestContext) error {
	o, d, err := s.deleteOptions(x)
	if err != nil {
		return err
	}
	// As in kube-apiserver, a client that accepts PartialObjectMetadataList gets a Status.
	statusOnly := x.format.Shape == negotiate.PartialList
	if !statusOnly {
		if err := represent.CheckShape(x.bodyKind, x.format, x.target.Query); err != nil {
			return err
		}
	}
	m := s.newMutation(x, d, o)
	result, err := s.opts.Store.Mutate(x.deadlineCtx, m)
	x.addRecorded(m.Recorder)
	if err != nil {
		return err
	}
	if (!result.Deleted || x.kind.Writes.DeleteReturnsObject) && !statusOnly {
		return s.writeObject(x, result.Object)
	}
	s.writeStatus(x, &meta.Status{Success: true, Details: &meta.Details{
		Name: x.info.Name, Group: x.kind.Group, Kind: x.kind.Resource, UID: result.Object.Meta.UID,
	}})
	return nil
}

// deleteCollection responds with a Status. It deletes each object separately, with its own
// admission and preconditions. A failure does not stop the other deletions.
func (s *Server) deleteCollection(x *requestContext) error {
	lo, err := s.parseList(x)
	if err != nil {
		return err
	}
	l, err := lo.Request(x.kind, &x.info)
	if err != nil {
		return err
	}
	l.User = x.attributes.User.Name
	o, d, err := s.deleteOptions(x)
	if err != nil {
		return err
	}
	m := s.newMutation(x, d, o)
	_, err = s.opts.Store.DeleteCollection(x.deadlineCtx, l, m)
	x.addRecorded(m.Recorder)
	if err != nil {
		return err
	}
	s.writeStatus(x, &meta.Status{Success: true, Details: &meta.Details{Group: x.kind.Group, Kind: x.kind.Resource}})
	return nil
}

const deleteOptionsName = "meta.v1.DeleteOptions"

// deleteOptions returns the options of a delete from the body, or from the query if the body is
// empty. Both may request a dry run.
func (s *Server) deleteOptions(x *requestContext) (o params.Write, d request.Delete, err error) {
	asked, err := s.readDeleteOptions(x)
	if err != nil {
		return o, d, err
	}
	o, d, err = asked.Check(s.names.MetaGroup, x.target.Query, x.ctx.UserAgent())
	if err != nil {
		return o, d, err
	}
	warnings, err := asked.CheckFields(o.Validation)
	if err != nil {
		return o, d, err
	}
	x.addWarnings(warnings)
	if asked.IgnoreReadError {
		return o, d, s.checkIgnoreReadError(x)
	}
	return o, d, nil
}

func (s *Server) readDeleteOptions(x *requestContext) (params.Delete, error) {
	body, err := s.readBody(x)
	if err != nil {
		return params.Delete{}, err
	}
	if len(body) == 0 {
		return params.ParseDelete(x.target.Query)
	}
	m, encoding := s.opts.Catalog.Message(deleteOptionsName), s.bodyEncoding(x)
	object, faults, err := s.bodies.Options(m, encoding, body)
	if err != nil {
		return params.Delete{}, err
	}
	d, err := params.DecodeDelete(object, faults)
	if err == nil && object != nil {
		x.auditRequestOptions(m, object, encoding, body)
	}
	return d, err
}

const ignoreReadErrorVerb = "unsafe-delete-ignore-read-errors"

// checkIgnoreReadError checks whether the user may delete an unreadable object. This needs a
// separate permission, and reading the object must fail because of corrupt data.
func (s *Server) checkIgnoreReadError(x *requestContext) error {
	i := &x.info
	if i.Name == "" {
		var f schema.Faults
		f.Invalid(params.FieldIgnoreReadError, true, "is not allowed with DELETECOLLECTION, try again after removing the option")
		return apierrors.InvalidOptions(s.names.MetaGroup, "DeleteOptions", f)
	}
	x.annotate(s.opts.Naming.Group("apiserver")+"/unsafe-delete-ignore-read-error", "")
	gr := meta.GroupResource{Group: i.Group, Resource: i.Resource}
	decision, reason := s.decide(x, authz.Attributes{
		User: x.attributes.User, Verb: ignoreReadErrorVerb, ResourceRequest: true, Group: i.Group, Version: i.Version,
		Resource: i.Resource, Namespace: i.Namespace, Name: i.Name,
	})
	if decision != authz.Allow {
		return meta.NewForbidden(gr, i.Name, fmt.Sprintf("not permitted to do %q, reason: %s", ignoreReadErrorVerb, reason))
	}
	var unreadable *meta.Status
	_, err := s.opts.Store.Get(x.deadlineCtx, request.Get{Kind: x.kind, Key: i.Key(x.kind)})
	switch {
	case err == nil:
		return meta.NewConflict(gr, i.Name, "unsafe deletion is not allowed because the object is decodable from storage")
	case errors.As(err, &unreadable) && unreadable.Reason == meta.ReasonStorageRead:
		return nil
	}
	return err
}
