package params

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestbody"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	fieldGrace  = "gracePeriodSeconds"
	fieldPolicy = "propagationPolicy"
	fieldOrphan = "orphanDependents"
)

// FieldIgnoreReadError is the option to delete an object that cannot be decoded. Its long name is a
// warning, because the deletion ignores finalizers and preconditions.
const FieldIgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential"

var deleteOptionsKind = &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}}

// A Delete contains DeleteOptions before validation. Pointers distinguish missing values from
// zero, because a grace period of 0 means immediate deletion.
type Delete struct {
	IgnoreReadError      bool
	grace                *int64
	policy               *string
	orphan               *bool
	uid, resourceVersion *string // preconditions
	dryRun               []string
	faults               []codec.FieldFault // of the body
}

// ParseDelete parses DeleteOptions from a query. Empty preconditions are ignored, unlike in a body.
// Strings are cloned, because the query is valid only during the request.
func ParseDelete(q requestinfo.Query) (d Delete, err error) {
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
	if v := q.Get("uid"); v != "" {
		d.uid = new(strings.Clone(v))
	}
	if v := q.Get("resourceVersion"); v != "" {
		d.resourceVersion = new(strings.Clone(v))
	}
	d.IgnoreReadError = q.Flag(FieldIgnoreReadError)
	return d, nil
}

// DecodeDelete returns the DeleteOptions of a decoded request body. faults are the decoding errors.
// Clients that cannot send a body with DELETE use query parameters (ParseDelete).
func DecodeDelete(object tree.Tree, faults []codec.FieldFault) (d Delete, err error) {
	if kind, _ := object["kind"].(string); kind != "" && kind != "DeleteOptions" {
		return d, apierrors.BadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type DeleteOptions): kind %q", kind))
	}
	preconditions := object.Object("preconditions")
	d.faults = faults
	d.grace, d.policy, d.orphan = optionalField[int64](object, fieldGrace), optionalField[string](object, fieldPolicy), optionalField[bool](object, fieldOrphan)
	d.uid, d.resourceVersion = optionalField[string](preconditions, "uid"), optionalField[string](preconditions, "resourceVersion")
	d.IgnoreReadError, _ = object[FieldIgnoreReadError].(bool)
	for _, stage := range object.List("dryRun") {
		text, _ := stage.(string)
		d.dryRun = append(d.dryRun, text)
	}
	return d, nil
}

// optionalField returns the value of a field, or nil if it is absent or has another type. The
// decoder has already reported wrong types.
func optionalField[T any](object tree.Tree, name string) *T {
	v, ok := object[name].(T)
	if !ok {
		return nil
	}
	return &v
}

// Check validates the options of the body, combined with those of the query. metaGroup is the API
// group of DeleteOptions. The request is a dry run if either the body or the query requests one,
// because an unintended deletion is worse.
func (d *Delete) Check(metaGroup string, q requestinfo.Query, userAgent []byte) (o Write, r request.Delete, err error) {
	d.dryRun = append(d.dryRun, q.Values("dryRun")...)
	var f schema.Faults
	o.Validation = parseFieldValidation(q, &f)
	r.PropagationPolicy = d.propagation(&f)
	o.FieldManager = defaultFieldManager(userAgent)
	o.DryRun = parseDryRun(d.dryRun, &f)
	d.validateIgnoreReadError(&f)
	r.GracePeriodSeconds = d.grace
	r.UID, r.ResourceVersion = d.uid, d.resourceVersion
	return o, r, apierrors.InvalidOptions(metaGroup, "DeleteOptions", f)
}

// CheckFields returns warnings about unknown fields of the body, or an error if the validation is
// strict.
func (d *Delete) CheckFields(v request.FieldValidation) (warnings []string, err error) {
	return requestbody.CheckFields(deleteOptionsKind, d.faults, v)
}

// propagation returns the propagation policy, or "" if the object's finalizers determine it. The
// older option orphanDependents means Orphan if true, and Background if false.
func (d *Delete) propagation(f *schema.Faults) string {
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

// validateIgnoreReadError rejects options that require reading the object.
func (d *Delete) validateIgnoreReadError(f *schema.Faults) {
	if !d.IgnoreReadError {
		return
	}
	for _, other := range []struct {
		name string
		set  bool
	}{
		{fieldPolicy, d.policy != nil},
		{fieldOrphan, d.orphan != nil},
		{fieldGrace, d.grace != nil},
		{"preconditions", d.uid != nil || d.resourceVersion != nil},
	} {
		if other.set {
			f.Invalid(FieldIgnoreReadError, true, "cannot be set together with ."+other.name)
		}
	}
}
