package http

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
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

// A deletion is what DeleteOptions ask for, before it is checked.
type deletion struct {
	grace          *int64
	policy         *string
	orphan         *bool
	uid, version   *string // preconditions
	dryRun         []string
	ignoreReadFail bool
	sent           schema.Tree // the body; nil without one
	faults         []codec.FieldFault
	form           media // in which it was sent
}

// deleteOptions reads the options of a delete: from the body if there is one, else from
// the query. A dry run may be asked for in either.
func (s *Server) deleteOptions(x *exchange) (o writeOptions, d request.DeleteOptions, err error) {
	body, err := s.body(x)
	if err != nil {
		return o, d, err
	}
	var asked deletion
	if len(body) > 0 {
		asked, err = s.decodeDelete(string(x.ctx.Request.Header.ContentType()), body)
	} else {
		asked, err = queryDelete(x.query)
	}
	if err != nil {
		return o, d, err
	}
	if asked.sent != nil {
		x.sentOptions(s.opts.Catalog.Message(deleteOptionsName), asked.sent, asked.form, body)
	}
	asked.dryRun = append(asked.dryRun, x.query.all("dryRun")...)
	var f schema.Faults
	o.validation = fieldValidation(x.query, &f)
	d.PropagationPolicy = asked.propagation(&f)
	o.manager = managerOf(x.ctx.UserAgent())
	o.dryRun = dryRun(asked.dryRun, &f)
	asked.checkIgnore(&f)
	if err := s.invalidOptions("DeleteOptions", f); err != nil {
		return o, d, err
	}
	warnings, err := judge(deleteOptionsKind, asked.faults, o.validation)
	if err != nil {
		return o, d, err
	}
	x.warn(warnings)
	if asked.ignoreReadFail {
		return o, d, s.refuseIgnore(x)
	}
	d.GracePeriodSeconds = asked.grace
	d.UID, d.ResourceVersion = textOf(asked.uid), textOf(asked.version)
	return o, d, nil
}

func textOf(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// propagation is the propagation policy, in its old or its new form.
func (d *deletion) propagation(f *schema.Faults) string {
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

// checkIgnore reports what may not be asked for together with ignoring what cannot be read.
func (d *deletion) checkIgnore(f *schema.Faults) {
	if !d.ignoreReadFail {
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
		{"preconditions", d.uid != nil || d.version != nil},
	} {
		if other.set {
			f.Invalid(fieldIgnoreRead, true, "cannot be set together with ."+other.name)
		}
	}
}

// ignoreVerb is what one must be allowed, to ask for objects to be deleted unread.
const ignoreVerb = "unsafe-delete-ignore-read-errors"

// refuseIgnore answers a delete of an object that cannot be read. There is none here: what
// is served has been read, and recovery stops at what it cannot read.
func (s *Server) refuseIgnore(x *exchange) error {
	i := &x.info
	gr := meta.GroupResource{Group: i.Group, Resource: i.Resource}
	decision, reason := s.opts.Authorizer.Authorize(authz.Attributes{
		User: x.user, Verb: ignoreVerb, ResourceRequest: true, Group: i.Group, Version: i.Version,
		Resource: i.Resource, Namespace: i.Namespace, Name: i.Name,
	})
	if decision != authz.Allow {
		return meta.NewForbidden(gr, i.Name, fmt.Sprintf("not permitted to do %q, reason: %s", ignoreVerb, reason))
	}
	var f schema.Faults
	gk := meta.GroupKind{Group: i.Group, Kind: i.Resource}
	if i.Name == "" {
		f.Invalid(fieldIgnoreRead, true, "is not allowed with DELETECOLLECTION, try again after removing the option")
		return meta.NewInvalid(gk, "", f.List)
	}
	if _, err := s.opts.Store.Get(x.wait, request.Get{Kind: x.kind, Key: i.key(x.kind)}); err != nil {
		return err
	}
	f.Invalid(fieldIgnoreRead, true, "is exclusively used to delete corrupt object(s), try again by removing this option")
	return meta.NewInvalid(gk, i.Name, f.List)
}

// decodeDelete reads DeleteOptions from a body, and notes the fields that it does not know.
func (s *Server) decodeDelete(contentType string, body []byte) (d deletion, err error) {
	m := s.opts.Catalog.Message(deleteOptionsName)
	var tree schema.Tree
	d.form = s.names.bodyMedia(contentType, true)
	switch d.form {
	case mediaJSON:
		tree, d.faults, err = codec.DecodeJSON(m, body)
	case mediaYAML:
		tree, d.faults, err = codec.DecodeYAML(m, body)
	case mediaProtobuf:
		tree, err = s.protobufOptions(m, body)
	default:
		return d, unsupportedMedia(s.names.accepted)
	}
	if err != nil {
		return d, badRequest("couldn't get version/kind; json parse error: " + err.Error())
	}
	d.sent = tree
	if kind, _ := tree["kind"].(string); kind != "" && kind != "DeleteOptions" {
		return d, badRequest(fmt.Sprintf("the object provided is unrecognized (must be of type DeleteOptions): kind %q", kind))
	}
	preconditions := rules.Sub(tree, "preconditions")
	d.grace, d.policy, d.orphan = given[int64](tree, fieldGrace), given[string](tree, fieldPolicy), given[bool](tree, fieldOrphan)
	d.uid, d.version = given[string](preconditions, "uid"), given[string](preconditions, "resourceVersion")
	d.ignoreReadFail, _ = tree[fieldIgnoreRead].(bool)
	for _, stage := range rules.Items(tree, "dryRun") {
		text, _ := stage.(string)
		d.dryRun = append(d.dryRun, text)
	}
	return d, nil
}

// given is the value of a field; nil if it is not there.
func given[T any](tree schema.Tree, name string) *T {
	v, ok := tree[name].(T)
	if !ok {
		return nil
	}
	return &v
}

func (s *Server) protobufOptions(m *schema.Message, body []byte) (schema.Tree, error) {
	e, err := s.unwrap(body)
	if err != nil {
		return nil, err
	}
	tree, _, err := codec.DecodeProtobuf(m, e.Raw)
	if err == nil {
		tree["kind"] = e.Kind
	}
	return tree, err
}

// queryDelete reads the options that a query may hold: all but preconditions.
func queryDelete(q query) (d deletion, err error) {
	if _, ok := q.lookup(fieldGrace); ok {
		n, err := q.number(fieldGrace)
		if err != nil {
			return d, err
		}
		d.grace = &n
	}
	if v, ok := q.lookup(fieldPolicy); ok {
		v = strings.Clone(v)
		d.policy = &v
	}
	if _, ok := q.lookup(fieldOrphan); ok {
		v := q.flag(fieldOrphan)
		d.orphan = &v
	}
	d.ignoreReadFail = q.flag(fieldIgnoreRead)
	return d, nil
}
