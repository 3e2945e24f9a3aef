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

// A Write contains the parameters of create, update, patch, and delete, with defaults. Named
// contains the original options, for admission webhooks.
type Write struct {
	DryRun       bool
	Validation   request.FieldValidation
	FieldManager string
	Force        bool // force of an apply
	Named        request.NamedOptions
}

// maxFieldManager is the maximum length of a manager name, in bytes. Every version of the object
// stores the name.
const maxFieldManager = 128

// ApplyOptions is the kind that ParseWrite expects for an apply.
const ApplyOptions = "apply"

// ParseWrite parses and validates write options. kind is, for example, "CreateOptions", and
// metaGroup is its API group. An apply requires a field manager, which becomes the owner of the
// fields. For other writes, it defaults to the client's name.
func ParseWrite(metaGroup, kind string, q requestinfo.Query, userAgent []byte) (o Write, err error) {
	if q == "" && kind != ApplyOptions {
		o.FieldManager = defaultFieldManager(userAgent)
		return o, nil
	}
	var f schema.Faults
	if kind == ApplyOptions && q.Get("fieldManager") == "" {
		f.Required("fieldManager", "is required for apply patch")
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

// parseDryRun reports whether the values of the dryRun parameter request a dry run. "All" is the
// only valid value. Like kube-apiserver's, an error lists all values of the request.
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

// validateFieldManager requires a short and printable name, because terminals show it in conflict
// errors.
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

// defaultFieldManager derives a manager name from the User-Agent. "kubectl/v1.35.0 (linux/amd64)"
// becomes "kubectl", so that a client upgrade does not change ownership.
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
