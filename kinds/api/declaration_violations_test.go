package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// formatSamples has a valid and an invalid value for each format and pattern.
var formatSamples = map[string][2]string{
	"absolutePath":     {"/a", "a"},
	"cidr":             {"10.0.0.0/8", "10.0.0.0"},
	"configMapKey":     {"a.b", "a b"},
	"dns1123Label":     {"a", "a.b"},
	"dns1123Subdomain": {"a.b", "a_b"},
	"driverName":       {"A.b", "a_b"},
	"endpointIP":       {"10.0.0.1", "127.0.0.1"},
	"envVarName":       {"A", "="},
	"httpHeaderName":   {"A-b", "a b"},
	"ip":               {"127.0.0.1", "a"},
	"iscsiName":        {"iqn.2001-04.com.example:a", "iqn.a"},
	"kindName":         {"Kind", "a b"},
	"localPath":        {"a", "..a"},
	"noDotDot":         {"/a", "/a/../b"},
	"pathSegment":      {"a", "a/b"},
	"percentOfAll":     {"100%", "101%"},
	"portName":         {"http", "-"},
	"qualifiedName":    {"a.b/c", "a b"},
	"relativePath":     {"a", "/a"},
	"trimmed":          {"a", " a"},

	"mixedCaseSubdomain":     {"A.b", "a_b"},
	"mixedCaseQualifiedName": {"A.b/c", "a b"},
}

type fieldLocation struct {
	kind    *schema.Kind
	message *schema.Message
	steps   []*schema.Field
}

func (p fieldLocation) path() string {
	path := ""
	for _, f := range p.steps {
		path = tree.FieldPath(path, f.Name)
		switch f.Shape {
		case schema.List:
			path = tree.IndexPath(path, 0)
		case schema.Map:
			path = tree.KeyPath(path, "k")
		}
	}
	return path
}

func (p fieldLocation) isSingular() bool {
	return !slices.ContainsFunc(p.steps, func(f *schema.Field) bool { return f.Shape != schema.Single })
}

func (p fieldLocation) object(content tree.Tree) tree.Tree {
	for _, f := range slices.Backward(p.steps) {
		content = tree.Tree{f.Name: wrapValue(f, content)}
	}
	return Named(p.kind, content)
}

func wrapValue(f *schema.Field, v any) any {
	switch f.Shape {
	case schema.List:
		return []any{v}
	case schema.Map:
		return tree.Tree{"k": v}
	}
	return v
}

// fieldLocations returns a location for each message in k. If a message occurs several times, it
// returns the location with the shortest path.
func fieldLocations(k *schema.Kind) []fieldLocation {
	all := []fieldLocation{{kind: k, message: k.Message()}}
	seen := map[*schema.Message]bool{k.Message(): true}
	for i := 0; i < len(all); i++ {
		for _, f := range all[i].message.Fields {
			if f.Type != schema.TypeMessage || seen[f.Message] || i == 0 && f.Name == "metadata" {
				continue
			}
			seen[f.Message] = true
			all = append(all, fieldLocation{k, f.Message, append(slices.Clone(all[i].steps), f)})
		}
	}
	return all
}

type violation struct {
	rule            string
	bad, good       any
	cause           meta.CauseType
	path            string    // path below the field
	uncheckedByPlan bool      // the declaration alone accepts the bad value
	besides         tree.Tree // other fields that the object needs
}

// TestEveryDeclaredRule checks that every declared rule rejects a bad value and accepts a good one.
// It removes the kinds' functions, so that only declarations report errors.
func TestEveryDeclaredRule(t *testing.T) {
	held, asked := map[string]bool{}, map[string]bool{}
	for _, k := range withoutRules(validatedKinds(t)) {
		for _, p := range fieldLocations(k) {
			asked[p.message.Name] = true
			for _, f := range p.message.Fields {
				if len(p.steps) == 0 && f.Name == "metadata" {
					continue
				}
				if name := unsampled(f); name != "" {
					t.Fatalf("%s %s: formatSamples in declaration_violations_test.go needs a valid and an invalid value for %q", p.message.Name, f.Name, name)
				}
				for _, b := range violations(p.message, f) {
					checkViolation(t, p, f, b)
					held[p.message.Name+" "+f.Name+" "+b.rule] = true
				}
				if f.Immutable && p.isSingular() {
					checkImmutable(t, p, f)
					held[p.message.Name+" "+f.Name+" immutable"] = true
				}
			}
		}
	}
	for _, line := range strings.Split(declared(messages(t)), "\n") {
		parts := strings.Split(line, " ")
		if asked[parts[0]] && parts[2] != "default" && !held[strings.Join(parts[:3], " ")] {
			t.Errorf("%s: declared, and not broken", line)
		}
	}
}

func TestEveryDeclaredDefault(t *testing.T) {
	for _, k := range withoutRules(NewCatalog(t, meta.Platform).Kinds()) {
		for _, p := range fieldLocations(k) {
			content := tree.Tree{}
			rules.Default(k, p.object(content))
			for _, f := range p.message.Fields {
				if f.Default == nil || f.Default == "" && !f.EmitEmpty && !f.Pointer { // the default only documents a key
					continue
				}
				if v := content[f.Name]; v == nil || !tree.IsEmpty(f.Default) && !tree.SemanticEqual(v, f.Default) {
					t.Errorf("%s %s: %s: got %v, not the default %v", k.APIVersion(), k.Kind, tree.FieldPath(p.path(), f.Name), v, f.Default)
				}
			}
		}
	}
}

// validatedKinds returns the kinds whose declarations validate request bodies: stored versions and
// virtual kinds.
func validatedKinds(t *testing.T) []*schema.Kind {
	t.Helper()
	c := NewCatalog(t, meta.Platform)
	all := c.StorageKinds()
	for _, k := range c.Kinds() {
		if k.Virtual() {
			all = append(all, k)
		}
		for _, s := range k.Subresources {
			if s.BodyKind != nil && !slices.Contains(all, s.BodyKind) {
				all = append(all, s.BodyKind)
			}
		}
	}
	return all
}

func withoutRules(kinds []*schema.Kind) []*schema.Kind {
	all := make([]*schema.Kind, len(kinds))
	for i, k := range kinds {
		b := *k
		declared := *b.Message()
		declared.Rules = nil
		b.Strategy, b.Declared, all[i] = schema.DefaultStrategy{}, schema.DeclarationOf(&declared), &b
	}
	return all
}

func checkViolation(t *testing.T, p fieldLocation, f *schema.Field, b violation) {
	t.Helper()
	path := tree.FieldPath(p.path(), f.Name) + b.path
	has := func(v any) bool {
		content, _ := tree.Clone(b.besides).(tree.Tree)
		if content == nil {
			content = tree.Tree{}
		}
		if v != nil {
			content[f.Name] = v
		}
		return slices.ContainsFunc(rules.Validate(p.kind, p.object(content)), func(c meta.Cause) bool {
			return c.Type == b.cause && c.Field == path
		})
	}
	if has(b.bad) == b.uncheckedByPlan {
		t.Errorf("%s %s: %s: %v breaks %q; it passes: %t", p.kind.APIVersion(), p.kind.Kind, path, b.bad, b.rule, !b.uncheckedByPlan)
	}
	if has(b.good) {
		t.Errorf("%s %s: %s: %v keeps %q and is refused", p.kind.APIVersion(), p.kind.Kind, path, b.good, b.rule)
	}
}

func checkImmutable(t *testing.T, p fieldLocation, f *schema.Field) {
	t.Helper()
	path := tree.FieldPath(p.path(), f.Name)
	with, without := p.object(tree.Tree{f.Name: wrapValue(f, validValue(f))}), p.object(tree.Tree{})
	if got := Lines(rules.ValidateUpdate(p.kind, without, with)); len(got) != 1 || !strings.HasPrefix(got[0], path+": Invalid value: null: field is immutable") {
		t.Errorf("%s: changed, got %v", path, got)
	}
	if got := rules.ValidateUpdate(p.kind, with, with); got != nil {
		t.Errorf("%s: kept, got %v", path, got)
	}
}

// unsampled returns a format or pattern of f without formatSamples, or "".
func unsampled(f *schema.Field) string {
	for _, name := range []string{f.Format, f.Pattern, f.KeyFormat} {
		if _, ok := formatSamples[name]; !ok && name != "" {
			return name
		}
	}
	return ""
}

func violations(m *schema.Message, f *schema.Field) []violation {
	var all []violation
	value := validValue(f)
	item := "" // path of an item
	switch f.Shape {
	case schema.List:
		item = "[0]"
	case schema.Map:
		item = "[k]"
	}
	add := func(is bool, rule string, bad any, cause meta.CauseType, path string) {
		if is {
			all = append(all, violation{rule, wrapValue(f, bad), wrapValue(f, value), cause, path, false, nil})
		}
	}
	choices := item
	if f.Shape == schema.List {
		choices = ""
	}
	if f.Required {
		all = append(all, violation{"required", nil, wrapValue(f, value), meta.CauseRequired, "", false, nil})
	}
	if w := f.RequiredWhen; w != nil {
		all = append(all, violation{"required_when", nil, wrapValue(f, value), meta.CauseRequired, "", false, tree.Tree{w.Field: reason(m, w)}})
	}
	add(len(f.Enum) > 0, "enum", "no such choice", meta.CauseNotSupported, choices)
	if f.Min != nil {
		low := *f.Min - 1
		if low == 0 && !f.Pointer {
			low = -1 // 0 counts as absent
		}
		add(true, "min", low, meta.CauseInvalid, item)
	}
	if f.Max != nil {
		add(true, "max", *f.Max+1, meta.CauseInvalid, item)
	}
	add(f.MinLength > 0, "min_length", strings.Repeat("a", max(f.MinLength-1, 0)), meta.CauseInvalid, item)
	add(f.MaxLength > 0, "max_length", strings.Repeat("a", f.MaxLength+1), meta.CauseTooLong, item)
	add(f.Format != "", "format", formatSamples[f.Format][1], meta.CauseInvalid, item)
	add(f.Pattern != "", "pattern", formatSamples[f.Pattern][1], meta.CauseInvalid, item)
	if f.Empty == schema.EmptyChecked {
		all = append(all, violation{"empty", nil, value, emptyCause(f), "", false, nil})
	}
	for _, name := range f.RequiredFields {
		all = append(all, violation{"required_fields", wrapValue(f, tree.Tree{}), wrapValue(f, tree.Tree{name: "a"}), meta.CauseRequired, item + "." + name, false, nil})
	}
	if f.MaxItems > 0 {
		all = append(all, violation{"max_items", repeatValue(f, f.MaxItems+1), repeatValue(f, f.MaxItems), meta.CauseTooMany, "", false, nil})
	}
	if f.KeyFormat != "" {
		samples := formatSamples[f.KeyFormat]
		all = append(all, violation{"key_format", tree.Tree{samples[1]: value}, tree.Tree{samples[0]: value}, meta.CauseInvalid, "[" + samples[1] + "]", false, nil})
	}
	for _, domain := range f.ReservedDomains {
		all = append(all, violation{"reserved_keys", tree.Tree{"a." + domain + "/b": value}, wrapValue(f, value), meta.CauseInvalid, "[a." + domain + "/b]", false, nil})
	}
	if f.Shape == schema.List && f.ListType != schema.ListAtomic {
		all = append(all, duplicateItems(m, f, value))
	}
	return all
}

func reason(m *schema.Message, w *schema.RequiredWhen) any {
	if len(w.Values) > 0 {
		return w.Values[0]
	}
	return wrapValue(m.Field(w.Field), validValue(m.Field(w.Field)))
}

func emptyCause(f *schema.Field) meta.CauseType {
	if len(f.Enum) > 0 {
		return meta.CauseNotSupported
	}
	return meta.CauseInvalid
}

func duplicateItems(m *schema.Message, f *schema.Field, value any) violation {
	b := violation{"unique", []any{value, value}, []any{value}, meta.CauseDuplicate, "[1]", f.MayRepeat, nil}
	if len(f.ListMapKeys) == 1 {
		b.path += "." + f.ListMapKeys[0]
	}
	return b
}

func repeatValue(f *schema.Field, n int) any {
	if f.Shape == schema.Map {
		entries := tree.Tree{}
		for i := range n {
			entries[fmt.Sprint("k", i)] = validValue(f)
		}
		return entries
	}
	return slices.Repeat([]any{validValue(f)}, n)
}

func validValue(f *schema.Field) any {
	switch f.Type {
	case schema.TypeBool:
		return true
	case schema.TypeInt32, schema.TypeInt64, schema.TypeIntOrString:
		if f.Min != nil {
			return max(*f.Min, 1)
		}
		return int64(1)
	case schema.TypeDouble:
		return 1.5
	case schema.TypeMessage:
		item := tree.Tree{}
		for _, name := range f.ListMapKeys {
			item[name] = validValue(f.Message.Field(name))
		}
		for _, o := range f.Message.OneOf {
			one := f.Message.Field(o.Fields[0])
			item[one.Name] = wrapValue(one, validValue(one))
		}
		if len(item) == 0 && len(f.Message.Fields) > 0 {
			setAnyField(item, f.Message)
		}
		return item
	case schema.TypeStrings:
		return []any{"a"}
	case schema.TypeRaw:
		return tree.Tree{"a": "b"}
	}
	switch {
	case len(f.Enum) > 0:
		return f.Enum[len(f.Enum)-1]
	case f.Format != "":
		return formatSamples[f.Format][0]
	case f.Pattern != "":
		return formatSamples[f.Pattern][0]
	}
	return strings.Repeat("a", max(f.MinLength, 1))
}

func setAnyField(item tree.Tree, m *schema.Message) {
	text := func(f *schema.Field) bool { return f.Type == schema.TypeString && f.Shape == schema.Single }
	f := m.Fields[max(slices.IndexFunc(m.Fields, text), 0)]
	item[f.Name] = wrapValue(f, validValue(f))
}
