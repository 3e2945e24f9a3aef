package params

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Write holds the parameters of create, update, patch and delete. Named is what the client itself said of
// the options, which admission webhooks are shown; the other fields have the defaults.
type Write struct {
	DryRun       bool
	Validation   request.FieldValidation
	FieldManager string
	Force        bool // of an apply
	Named        request.NamedOptions
}

// maxFieldManager is the longest name of a field manager, in bytes. Each manager is stored with the object,
// and again for each of its versions.
const maxFieldManager = 128

// ApplyOptions are PatchOptions of an apply. It has rules of its own, but clients know its kind as
// PatchOptions.
const ApplyOptions = "apply"

// ParseWrite reads and checks them; kind is as in "CreateOptions", metaGroup its group. An apply must say
// who applies, for ownership is what it is about; another write takes the client's name.
func ParseWrite(metaGroup, kind string, q requestinfo.Query, userAgent []byte) (o Write, err error) {
	var f schema.Faults
	if kind == ApplyOptions && q.Get("fieldManager") == "" {
		f.Required("fieldManager", "is required for apply patch")
	}
	if q == "" {
		o.FieldManager = defaultFieldManager(userAgent)
		return o, apierrors.InvalidOptions(metaGroup, "PatchOptions", f)
	}
	o.DryRun = parseDryRun(q.Values("dryRun"), &f)
	o.Named = request.NamedOptions{FieldManager: q.Get("fieldManager"), FieldValidation: q.Get("fieldValidation")}
	if m := q.Get("fieldManager"); m != "" {
		o.FieldManager = m
		validateFieldManager(m, &f)
	} else {
		o.FieldManager = defaultFieldManager(userAgent)
	}
	o.Validation = parseFieldValidation(q, &f)
	switch _, forced := q.Lookup("force"); {
	case kind == ApplyOptions:
		kind, o.Force = "PatchOptions", q.Flag("force")
	case kind == "PatchOptions" && forced:
		f.Forbidden("force", "may not be specified for non-apply patch")
	}
	return o, apierrors.InvalidOptions(metaGroup, kind, f)
}

// parseFieldValidation reads how unknown and duplicate fields are to be treated.
func parseFieldValidation(q requestinfo.Query, f *schema.Faults) request.FieldValidation {
	switch v := q.Get("fieldValidation"); v {
	case "", "Warn":
	case "Ignore":
		return request.Ignore
	case "Strict":
		return request.Strict
	default:
		f.NotSupported("fieldValidation", v, []string{"", "Ignore", "Strict", "Warn"})
	}
	return request.Warn
}

// parseDryRun reads the stages of a dry run; none asks for the real thing. "All" is the only stage; the
// loop reports the list as a whole, as clients know it.
func parseDryRun(stages []string, f *schema.Faults) bool {
	for _, stage := range stages {
		if stage != "All" {
			quoted := make([]string, len(stages))
			for i, s := range stages {
				quoted[i] = strconv.Quote(s)
			}
			f.List = append(f.List, meta.Cause{
				Type: meta.CauseNotSupported, Field: "dryRun",
				Message: "Unsupported value: [" + strings.Join(quoted, ",") + `]: supported values: "All"`,
			})
			return false
		}
	}
	return len(stages) > 0
}

// The name appears in conflicts on terminals.
func validateFieldManager(m string, f *schema.Faults) {
	if len(m) > maxFieldManager {
		f.TooLong("fieldManager", maxFieldManager)
	}
	for i, r := range m {
		if !unicode.IsPrint(r) {
			f.Invalid("fieldManager", m, fmt.Sprintf("invalid character %#U (at position %d)", r, i))
		}
	}
}

// defaultFieldManager derives a field manager from the client's name. "kubectl/v1.35.0 (linux/amd64)"
// becomes "kubectl", so that an update of the client does not make it another owner.
func defaultFieldManager(userAgent []byte) string {
	before, _, _ := bytes.Cut(userAgent, []byte("/"))
	name := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, string(before))
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), maxFieldManager)]
}
