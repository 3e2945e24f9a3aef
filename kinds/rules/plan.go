package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateMessage checks the fields of one message at path.
func validateMessage(m *schema.Message, t tree.Tree, path string, faults *schema.Faults) {
	for _, f := range m.Fields {
		validateOne(m, f, t, path, faults)
	}
}

// validateOne checks one field of the message at path.
func validateOne(m *schema.Message, f *schema.Field, t tree.Tree, path string, faults *schema.Faults) {
	v := t[f.Name]
	switch {
	case f.Required && missing(f, v):
		faults.Required(tree.FieldPath(path, f.Name))
	case v == nil || absent(f, v) && !f.Required:
	default:
		validateField(m, f, v, tree.FieldPath(path, f.Name), faults)
	}
}

// missing tells whether a required field lacks its value. A zero number or false is a value.
func missing(f *schema.Field, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case tree.Tree:
		return f.Shape == schema.Map && len(v) == 0
	}
	return false
}

func validateField(m *schema.Message, f *schema.Field, v any, path string, faults *schema.Faults) {
	switch f.Shape {
	case schema.Single:
		validateValue(f, v, path, path, faults)
	case schema.List:
		items, _ := v.([]any)
		if f.MaxItems > 0 && len(items) > f.MaxItems {
			faults.TooMany(path, len(items), f.MaxItems)
		}
		for i, e := range items {
			validateValue(f, e, tree.IndexPath(path, i), path, faults)
		}
		if !mayRepeatKeys[m.Name+"."+f.Name] {
			validateUnique(f, items, path, faults)
		}
	case schema.Map:
		entries, _ := v.(tree.Tree)
		if f.MaxItems > 0 && len(entries) > f.MaxItems {
			faults.TooMany(path, len(entries), f.MaxItems)
		}
		for _, key := range entries.SortedKeys() {
			if isReserved(key, f.ReservedDomains) {
				faults.Invalid(tree.KeyPath(path, key), key, strings.Join(f.ReservedDomains, " and ")+reservedMsg[len(f.ReservedDomains) > 1])
			}
			validateValue(f, entries[key], tree.KeyPath(path, key), tree.KeyPath(path, key), faults)
		}
	}
}

// reservedMsg ends the message about reserved domains, of which there is one or, if true, several.
var reservedMsg = map[bool]string{false: " namespace is reserved", true: " namespaces are reserved"}

// isReserved tells whether a key with an optional domain before it lies in one of domains or below.
func isReserved(key string, domains []string) bool {
	domain, _, _ := strings.Cut(key, "/")
	domain = "." + strings.ToLower(domain)
	return slices.ContainsFunc(domains, func(reserved string) bool { return strings.HasSuffix(domain, "."+reserved) })
}

// validateValue checks one value. The choices of a list are reported for the list, at
// choicePath, as users know it; everything else for the element.
func validateValue(f *schema.Field, v any, path, choicePath string, faults *schema.Faults) {
	switch v := v.(type) {
	case tree.Tree:
		if f.Type == schema.TypeMessage {
			validateMessage(f.Message, v, path, faults)
		}
	case string:
		if len(f.Enum) > 0 && !slices.Contains(f.Enum, v) {
			faults.NotSupported(choicePath, v, nonEmpty(f.Enum))
		}
		validateText(f, v, path, faults)
	case int64:
		validateNumber(f, v, path, faults)
	}
}

func validateText(f *schema.Field, s, path string, faults *schema.Faults) {
	if f.MaxLength > 0 && len(s) > f.MaxLength {
		faults.TooLong(path, f.MaxLength)
	}
	if len(s) < f.MinLength {
		faults.Invalid(path, s, fmt.Sprintf("must be at least %d bytes", f.MinLength))
	}
	if f.Pattern != "" && !compilePattern(f.Pattern).MatchString(s) {
		faults.Invalid(path, s, "must match the regular expression '"+f.Pattern+"'")
	}
	if f.Format != "" {
		for _, msg := range CheckFormat(f.Format, s) {
			faults.Invalid(path, s, msg)
		}
	}
}

// nonEmpty leaves the empty choice out of the list that clients see.
func nonEmpty(choices []string) []string {
	return slices.DeleteFunc(slices.Clone(choices), func(s string) bool { return s == "" })
}

func validateNumber(f *schema.Field, n int64, path string, faults *schema.Faults) {
	low := f.Min != nil && n < *f.Min
	high := f.Max != nil && n > *f.Max
	if !low && !high {
		return
	}
	switch {
	case f.Min != nil && f.Max != nil:
		faults.Invalid(path, n, betweenMsg(*f.Min, *f.Max))
	case low && *f.Min == 1:
		faults.Invalid(path, n, "must be greater than zero")
	case low:
		faults.Invalid(path, n, fmt.Sprintf("must be greater than or equal to %d", *f.Min))
	default:
		faults.Invalid(path, n, fmt.Sprintf("must be less than or equal to %d", *f.Max))
	}
}

func betweenMsg(low, high int64) string {
	return fmt.Sprintf("must be between %d and %d, inclusive", low, high)
}

// mayRepeatKeys names the lists with keys that the plan does not check: clients send them
// with repeated keys, which stay as they were sent, or the kind's function has its own words.
var mayRepeatKeys = map[string]bool{
	"core.v1.Container.env":                     true,
	"core.v1.Container.ports":                   true,
	"core.v1.Container.volumeDevices":           true,
	"core.v1.Container.volumeMounts":            true,
	"core.v1.EphemeralContainer.env":            true,
	"core.v1.EphemeralContainer.ports":          true,
	"core.v1.EphemeralContainer.volumeDevices":  true,
	"core.v1.EphemeralContainer.volumeMounts":   true,
	"core.v1.NodeStatus.addresses":              true,
	"core.v1.PodSpec.hostAliases":               true,
	"core.v1.PodSpec.imagePullSecrets":          true,
	"core.v1.PodSpec.schedulingGates":           true,
	"core.v1.PodSpec.topologySpreadConstraints": true,
	"core.v1.PodStatus.conditions":              true,
	"core.v1.PodStatus.hostIPs":                 true,
	"core.v1.PodStatus.podIPs":                  true,
	"core.v1.ResourceRequirements.claims":       true,
	"core.v1.ServiceAccount.secrets":            true,
}

// validateUnique checks that a set repeats no value and that a list with keys repeats no keys.
func validateUnique(f *schema.Field, items []any, path string, faults *schema.Faults) {
	if f.ListType == schema.ListAtomic {
		return
	}
	seen := make(map[string]bool, len(items))
	for i, e := range items {
		id, ok := itemKey(f, e)
		if !ok {
			continue
		}
		if !seen[id] {
			seen[id] = true
			continue
		}
		switch {
		case f.ListType == schema.ListSet:
			faults.Duplicate(tree.IndexPath(path, i), e)
		case len(f.ListMapKeys) == 1:
			name := f.ListMapKeys[0]
			faults.Duplicate(tree.FieldPath(tree.IndexPath(path, i), name), e.(tree.Tree)[name])
		default:
			faults.Duplicate(tree.IndexPath(path, i), keysOf(f, e.(tree.Tree)))
		}
	}
}

// itemKey is what must be unique about an element: its keys, or itself. Elements
// without any key are left alone.
func itemKey(f *schema.Field, e any) (string, bool) {
	if f.ListType == schema.ListSet {
		return fmt.Sprintf("%T:%v", e, e), true
	}
	t, ok := e.(tree.Tree)
	if !ok {
		return "", false
	}
	var b strings.Builder
	some := false
	for _, name := range f.ListMapKeys {
		v := t[name]
		some = some || !tree.IsEmpty(v)
		fmt.Fprintf(&b, "%T:%v\x00", v, v)
	}
	return b.String(), some
}

func keysOf(f *schema.Field, t tree.Tree) tree.Tree {
	keys := tree.Tree{}
	for _, name := range f.ListMapKeys {
		if t[name] != nil {
			keys[name] = t[name]
		}
	}
	return keys
}

// validateImmutable reports the immutable fields that differ. It looks into single objects
// only: the elements of lists have no identity here.
func validateImmutable(m *schema.Message, t, old tree.Tree, path string, faults *schema.Faults) {
	for _, f := range m.Fields {
		if f.Immutable {
			if !tree.SemanticEqual(t[f.Name], old[f.Name]) {
				faults.Invalid(tree.FieldPath(path, f.Name), t[f.Name], fieldImmutable)
			}
			continue
		}
		if f.Type == schema.TypeMessage && f.Shape == schema.Single {
			sub, ok := t[f.Name].(tree.Tree)
			was, had := old[f.Name].(tree.Tree)
			if (ok || had) && !tree.SameRef(sub, was) {
				validateImmutable(f.Message, sub, was, tree.FieldPath(path, f.Name), faults)
			}
		}
	}
}

const fieldImmutable = "field is immutable"

var patterns sync.Map // pattern → *regexp.Regexp

// compilePattern is the pattern as a regular expression; one that does not compile matches all.
func compilePattern(pattern string) *regexp.Regexp {
	if re, ok := patterns.Load(pattern); ok {
		return re.(*regexp.Regexp)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		re = regexp.MustCompile("")
	}
	patterns.Store(pattern, re)
	return re
}
