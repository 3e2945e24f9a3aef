package http

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/authz"
)

// The parameters of DeleteOptions that are named more than once here.
const (
	fieldGrace      = "gracePeriodSeconds"
	fieldPolicy     = "propagationPolicy"
	fieldOrphan     = "orphanDependents"
	fieldIgnoreRead = "ignoreStoreReadErrorWithClusterBreakingPotential"
)

// deleteOptionsName is the message that the body of a delete is.
const deleteOptionsName = "meta.v1.DeleteOptions"

// deleteOptionsKind is how errors name it.
var deleteOptionsKind = &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}}

// deleteParams are what DeleteOptions ask for, before they are checked.
type deleteParams struct {
	grace                *int64
	policy               *string
	orphan               *bool
	uid, resourceVersion *string // preconditions
	dryRun               []string
	ignoreReadError      bool
	body                 tree.Tree // the body; nil without one
	faults               []codec.FieldFault
	media                negotiate.Encoding // in which it was sent
}

// deleteOptions reads the options of a delete: from the body if there is one, else from
// the query. A dry run may be asked for in either.
func (s *Server) deleteOptions(x *requestContext) (o writeOptions, d request.DeleteOptions, err error) {
	body, err := s.readBody(x)
	if err != nil {
		return o, d, err
	}
	var params deleteParams
	if len(body) > 0 {
		params, err = s.decodeDeleteBody(string(x.ctx.Request.Header.ContentType()), body)
	} else {
		params, err = decodeDeleteQuery(x.query)
	}
	if err != nil {
		return o, d, err
	}
	if params.body != nil {
		x.auditRequestOptions(s.opts.Catalog.Message(deleteOptionsName), params.body, params.media, body)
	}
	params.dryRun = append(params.dryRun, x.query.Values("dryRun")...)
	var f schema.Faults
	o.validation = parseFieldValidation(x.query, &f)
	d.PropagationPolicy = params.propagation(&f)
	o.fieldManager = defaultFieldManager(x.ctx.UserAgent())
	o.dryRun = parseDryRun(params.dryRun, &f)
	params.validateIgnoreReadError(&f)
	if err := s.invalidOptions("DeleteOptions", f); err != nil {
		return o, d, err
	}
	warnings, err := checkFieldFaults(deleteOptionsKind, params.faults, o.validation)
	if err != nil {
		return o, d, err
	}
	x.addWarnings(warnings)
	if params.ignoreReadError {
		return o, d, s.rejectIgnoreReadError(x)
	}
	d.GracePeriodSeconds = params.grace
	d.UID, d.ResourceVersion = derefString(params.uid), derefString(params.resourceVersion)
	return o, d, nil
}

func derefString(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// propagation is the propagation policy, in its old or its new form.
func (d *deleteParams) propagation(f *schema.Faults) string {
	if d.orphan != nil && d.policy != nil {
		f.Invalid(fieldPolicy, *d.policy, "orphanDependents and deletionPropagation cannot be both set")
	}
	if d.policy != nil {
		switch p := *d.policy; p {
		case "Foreground", "Background", "Orphan":
			return p
		default:
			f.NotSupported(fieldPolicy, p, []string{"Foreground", "Background", "Orphan", "nil"})
		}
	}
	switch {
	case d.orphan == nil:
		return ""
	case *d.orphan:
		return "Orphan"
	}
	return "Background"
}

// validateIgnoreReadError reports options that may not be set together with that of ignoring read errors.
func (d *deleteParams) validateIgnoreReadError(f *schema.Faults) {
	if !d.ignoreReadError {
		return
	}
	for _, other := range []struct {
		name string
		set  bool
	}{
		{"dryRun", len(d.dryRun) > 0},
		{fieldPolicy, d.policy != nil},
		{fieldOrphan, d.orphan != nil},
		{fieldGrace, d.grace != nil},
		{"preconditions", d.uid != nil || d.resourceVersion != nil},
	} {
		if other.set {
			f.Invalid(fieldIgnoreRead, true, "cannot be set together with ."+other.name)
		}
	}
}

// ignoreReadErrorVerb is the verb that a user needs to have objects deleted that cannot be read.
const ignoreReadErrorVerb = "unsafe-delete-ignore-read-errors"

// rejectIgnoreReadError answers a delete of an object that cannot be read. There is none here: what
// is served has been read, and recovery stops at what it cannot read.
func (s *Server) rejectIgnoreReadError(x *requestContext) error {
	i := &x.info
	gr := meta.GroupResource{Group: i.Group, Resource: i.Resource}
	decision, reason := s.opts.Authorizer.Authorize(authz.Attributes{
		User: x.user, Verb: ignoreReadErrorVerb, ResourceRequest: true, Group: i.Group, Version: i.Version,
		Resource: i.Resource, Namespace: i.Namespace, Name: i.Name,
	})
	if decision != authz.Allow {
		return meta.NewForbidden(gr, i.Name, fmt.Sprintf("not permitted to do %q, reason: %s", ignoreReadErrorVerb, reason))
	}
	var f schema.Faults
	gk := meta.GroupKind{Group: i.Group, Kind: i.Resource}
	if i.Name == "" {
		f.Invalid(fieldIgnoreRead, true, "is not allowed with DELETECOLLECTION, try again after removing the option")
		return meta.NewInvalid(gk, "", f.List)
	}
	if _, err := s.opts.Store.Get(x.deadlineCtx, request.Get{Kind: x.kind, Key: i.Key(x.kind)}); err != nil {
		return err
	}
	f.Invalid(fieldIgnoreRead, true, "is exclusively used to delete corrupt object(s), try again by removing this option")
	return meta.NewInvalid(gk, i.Name, f.List)
}

// decodeDeleteBody reads DeleteOptions from a body, and notes the fields that it does not know.
func (s *Server) decodeDeleteBody(contentType string, body []byte) (d deleteParams, err error) {
	m := s.opts.Catalog.Message(deleteOptionsName)
	var object tree.Tree
	d.media = s.names.EncodingOfContentType(contentType, true)
	switch d.media {
	case negotiate.JSON:
		object, d.faults, err = codec.DecodeJSON(m, body)
	case negotiate.YAML:
		object, d.faults, err = codec.DecodeYAML(m, body)
	case negotiate.Protobuf:
		object, err = s.decodeProtobufOptions(m, body)
	default:
		return d, apierrors.UnsupportedMedia(s.names.BodyTypes)
	}
	if err != nil {
		return d, apierrors.BadRequest("couldn't get version/kind; json parse error: " + err.Error())
	}
	d.body = object
	if kind, _ := object["kind"].(string); kind != "" && kind != "DeleteOptions" {
		return d, apierrors.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type DeleteOptions): kind %q", kind))
	}
	preconditions := object.Object("preconditions")
	d.grace, d.policy, d.orphan = optionalField[int64](object, fieldGrace), optionalField[string](object, fieldPolicy), optionalField[bool](object, fieldOrphan)
	d.uid, d.resourceVersion = optionalField[string](preconditions, "uid"), optionalField[string](preconditions, "resourceVersion")
	d.ignoreReadError, _ = object[fieldIgnoreRead].(bool)
	for _, stage := range object.List("dryRun") {
		text, _ := stage.(string)
		d.dryRun = append(d.dryRun, text)
	}
	return d, nil
}

// optionalField is the value of a field; nil if it is not there.
func optionalField[T any](object tree.Tree, name string) *T {
	v, ok := object[name].(T)
	if !ok {
		return nil
	}
	return &v
}

func (s *Server) decodeProtobufOptions(m *schema.Message, body []byte) (tree.Tree, error) {
	e, err := s.unwrapEnvelope(body)
	if err != nil {
		return nil, err
	}
	object, _, err := codec.DecodeProtobuf(m, e.Raw)
	if err == nil {
		object["kind"] = e.Kind
	}
	return object, err
}

// decodeDeleteQuery reads the options that a query may hold: all but preconditions.
func decodeDeleteQuery(q requestinfo.Query) (d deleteParams, err error) {
	if _, ok := q.Lookup(fieldGrace); ok {
		n, err := q.Number(fieldGrace)
		if err != nil {
			return d, err
		}
		d.grace = &n
	}
	if v, ok := q.Lookup(fieldPolicy); ok {
		v = strings.Clone(v)
		d.policy = &v
	}
	if _, ok := q.Lookup(fieldOrphan); ok {
		v := q.Flag(fieldOrphan)
		d.orphan = &v
	}
	d.ignoreReadError = q.Flag(fieldIgnoreRead)
	return d, nil
}
