package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/kinds/tree"
)

type explainOptions struct {
	Recursive  bool
	APIVersion string
}

func (o *explainOptions) run(s *session, args []string) error {
	catalog, err := s.served()
	if err != nil {
		return err
	}
	r, fields, err := splitFields(catalog, args[0])
	if err != nil {
		var unknown *discovery.UnknownError
		if errors.As(err, &unknown) {
			return &Error{Text: strings.TrimPrefix(unknown.Error(), "error: ")}
		}
		return err
	}
	if o.APIVersion != "" {
		if r = catalog.ForKind(o.APIVersion, r.Kind); r == nil {
			return fmt.Errorf("no resource %s in version %s", args[0], o.APIVersion)
		}
	}
	e, err := s.openExplainer(r)
	if err != nil {
		return err
	}
	return e.explain(s, fields, o.Recursive)
}

// splitFields splits a word such as deployments.apps.spec.strategy into the longest matching type
// and its fields.
func splitFields(c *discovery.Catalog, word string) (*discovery.Resource, []string, error) {
	parts := strings.Split(strings.TrimSuffix(word, "."), ".")
	for n := len(parts); n > 0; n-- {
		r, err := c.Find(strings.Join(parts[:n], "."))
		if err == nil && (n == 1 || hasGroupPart(r, parts[1:n])) {
			return r, parts[n:], nil
		}
	}
	return nil, nil, &discovery.UnknownError{Name: parts[0]}
}

// hasGroupPart reports whether parts name the resource's group, optionally with its version. It
// does not accept a shortened group, which could be a field.
func hasGroupPart(r *discovery.Resource, parts []string) bool {
	text := strings.Join(parts, ".")
	return text == r.Group || text == r.Version+"."+r.Group
}

type explainer struct {
	resource *discovery.Resource
	schemas  tree.Tree
	root     tree.Tree
}

func (s *session) openExplainer(r *discovery.Resource) (*explainer, error) {
	index, err := s.Get(s.ctx, "/openapi/v3", nil)
	if err != nil {
		return nil, err
	}
	path := "api/" + r.Version
	if r.Group != "" {
		path = "apis/" + r.APIVersion()
	}
	where, err := url.Parse(index.Object("paths", path).String("serverRelativeURL"))
	if err != nil || where.Path == "" {
		return nil, fmt.Errorf("the server publishes no schema for %s", r.APIVersion())
	}
	document, err := s.Get(s.ctx, where.EscapedPath(), where.Query())
	if err != nil {
		return nil, err
	}
	e := &explainer{resource: r, schemas: document.Object("components", "schemas")}
	mark := s.catalog.Naming.Translate("x-platform-group-version-kind")
	for _, name := range e.schemas.SortedKeys() {
		for _, gvk := range e.schemas.Object(name).Objects(mark) {
			if gvk.String("group") == r.Group && gvk.String("version") == r.Version && gvk.String("kind") == r.Kind {
				e.root = e.schemas.Object(name)
			}
		}
	}
	if e.root == nil {
		return nil, fmt.Errorf("the server publishes no schema for %s in %s", r.Kind, r.APIVersion())
	}
	return e, nil
}

// follow resolves a field's $ref to a schema and its name. Without a $ref, it returns the field and
// "".
func (e *explainer) follow(field tree.Tree) (schema tree.Tree, name string) {
	ref := field.String("$ref")
	for _, one := range field.Objects("allOf") {
		if r := one.String("$ref"); r != "" {
			ref = r
		}
	}
	if ref == "" {
		return field, ""
	}
	full := ref[strings.LastIndexByte(ref, '/')+1:]
	return e.schemas.Object(full), full[strings.LastIndexByte(full, '.')+1:]
}

func (e *explainer) description(field tree.Tree) string {
	schema, _ := e.follow(field)
	return cmp.Or(field.String("description"), schema.String("description"))
}

func (e *explainer) typeName(field tree.Tree) string {
	schema, name := e.follow(field)
	if name != "" && (schema.Has("properties") || schema.String("type") == "object") {
		return name
	}
	switch kind := schema.String("type"); {
	case kind == "array":
		return "[]" + e.typeName(schema.Object("items"))
	case kind == "object" && schema.Has("additionalProperties"):
		return "map[string]" + e.typeName(schema.Object("additionalProperties"))
	case kind == "object":
		return "Object"
	case kind != "":
		return kind
	case name != "":
		return name
	case schema.String("format") == "int-or-string" || schema.Has("oneOf") || schema.Has("anyOf"):
		return "IntOrString"
	}
	return "Object"
}

// inner returns the schema that declares a field's properties.
func (e *explainer) inner(field tree.Tree) tree.Tree {
	schema, _ := e.follow(field)
	switch {
	case schema.String("type") == "array":
		return e.inner(schema.Object("items"))
	case schema.Has("additionalProperties") && !schema.Has("properties"):
		return e.inner(schema.Object("additionalProperties"))
	}
	return schema
}

func (e *explainer) explain(s *session, fields []string, recursive bool) error {
	if e.resource.Group != "" {
		s.printf("GROUP:      %s\n", e.resource.Group)
	}
	s.printf("KIND:       %s\nVERSION:    %s\n\n", e.resource.Kind, e.resource.Version)
	field := e.root
	for _, name := range fields {
		properties := e.inner(field).Object("properties")
		if !properties.Has(name) {
			return fmt.Errorf("field %q does not exist", name)
		}
		field = properties.Object(name)
	}
	schema := e.inner(field)
	if len(fields) > 0 {
		s.printf("FIELD: %s <%s>\n", fields[len(fields)-1], e.typeName(field))
		if values := enumOf(schema); len(values) > 0 {
			s.printf("ENUM:\n    %s\n", strings.Join(values, "\n    "))
		} else {
			s.printf("\n")
		}
		s.printf("\n")
	}
	s.printf("DESCRIPTION:\n%s\n", wrapped(cmp.Or(e.description(field), schema.String("description"), "<empty>"), "    "))
	if len(schema.Object("properties")) > 0 {
		s.printf("FIELDS:\n")
		e.fields(s, schema, "  ", recursive, nil)
	}
	s.printf("\n")
	return nil
}

func (e *explainer) fields(s *session, schema tree.Tree, indent string, recursive bool, above []string) {
	required := schema.Strings("required")
	properties := schema.Object("properties")
	for _, name := range properties.SortedKeys() {
		field := properties.Object(name)
		mark := ""
		if slices.Contains(required, name) {
			mark = " -required-"
		}
		s.printf("%s%s\t<%s>%s\n", indent, name, e.typeName(field), mark)
		inner := e.inner(field)
		if values := enumOf(inner); len(values) > 0 {
			s.printf("%senum: %s\n", indent, strings.Join(values, ", "))
		}
		if !recursive {
			s.printf("%s\n", wrapped(e.description(field), indent+"  "))
			continue
		}
		kind := e.typeName(field)
		if len(inner.Object("properties")) > 0 && !slices.Contains(above, kind) { // schemas may be recursive
			e.fields(s, inner, indent+"  ", recursive, append(slices.Clone(above), kind))
		}
	}
}

func enumOf(schema tree.Tree) []string {
	var all []string
	for _, v := range schema.List("enum") {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

func wrapped(text, indent string) string {
	const width = 80
	if text == "" {
		text = "<no description>"
	}
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := indent
		for word := range strings.FieldsSeq(paragraph) {
			if len(line)+1+len(word) > width && line != indent {
				b.WriteString(line + "\n")
				line = indent
			}
			if line != indent {
				line += " "
			}
			line += word
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
