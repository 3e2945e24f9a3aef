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

// The parameters of DeleteOptions that are named more than once.
const (
	fieldGrace  = "gracePeriodSeconds"
	fieldPolicy = "propagationPolicy"
	fieldOrphan = "orphanDependents"
)

// FieldIgnoreReadError asks to delete an object although it cannot be read. It is for objects that cannot
// be decoded any more; finalizers and preconditions cannot be honoured then, hence the long name.
const FieldIgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential"

// deleteOptionsKind is how errors name it.
var deleteOptionsKind = &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}}

// A Delete is what DeleteOptions ask for, before they are checked. Pointers tell "not given" from a zero: a
// grace period of 0 seconds means at once.
type Delete struct {
	// IgnoreReadError asks to delete an object although it cannot be read.
	IgnoreReadError      bool
	grace                *int64
	policy               *string
	orphan               *bool
	uid, resourceVersion *string // preconditions
	dryRun               []string
	faults               []codec.FieldFault // of the body
}

// ParseDelete reads the options from a query. Empty preconditions are none there, unlike in a body. The
// query is valid for as long as the request, so texts that are kept are cloned.
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

// DecodeDelete reads the options out of a body, which has been decoded with these faults. kubectl and typed
// clients always send a body; the query serves those that cannot send one with DELETE.
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

// optionalField is the value of a field; nil if it is not there. A value of another type counts as absent:
// decoding has reported it as a fault.
func optionalField[T any](object tree.Tree, name string) *T {
	v, ok := object[name].(T)
	if !ok {
		return nil
	}
	return &v
}

// Check finds the options that do not go together, and is what they come to; metaGroup is the group of
// DeleteOptions. What only a query can ask for is taken from q. Body and query may both ask for a dry run,
// and either is enough, since to delete by mistake is the worse error.
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

// CheckFields warns of the unknown fields of the body, or refuses them. It is apart from Check because the
// warnings need the response.
func (d *Delete) CheckFields(v request.FieldValidation) (warnings []string, err error) {
	return requestbody.CheckFields(deleteOptionsKind, d.faults, v)
}

// propagation is the propagation policy, in its old or its new form. orphanDependents is the old form, a
// bool for two of the three policies. No policy at all leaves the choice to the finalizers of the object.
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

// validateIgnoreReadError reports options that may not be set together with that of ignoring read errors.
// Each of them needs the object's content.
func (d *Delete) validateIgnoreReadError(f *schema.Faults) {
	if !d.IgnoreReadError {
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
			f.Invalid(FieldIgnoreReadError, true, "cannot be set together with ."+other.name)
		}
	}
}
