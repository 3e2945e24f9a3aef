package openapi

import (
	"maps"
	"slices"
	"strings"
)

// V3Of returns a version 3 document for a path such as "apis/ext.example.com/v1". It converts the
// version 2 document of a server that has no version 3.
func (d *Documents) V3Of(r *Remote, path string) *Document {
	return newDocument(d.options, version3, scope{remotes: []*Remote{r}, below: "/" + path + "/"})
}

// convertedPaths converts the paths of another server to version 3, writes them, and registers
// their definitions.
func (b *builder) convertedPaths(s scope, yield func(string, object) bool) {
	c := &converter{
		definitions: remoteParts(s.remotes, "definitions", "Schema2"), registered: &b.definitions,
		parameters: remoteParts(s.remotes, "parameters", "AnyParameter2"),
	}
	paths := remoteParts(s.remotes, "paths", "PathItem2")
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if strings.HasPrefix(path, s.below) && !yield(path, c.pathItem(paths[path])) {
			return
		}
	}
}

// A converter converts version 2 to version 3. It drops elements that version 3 lacks and inlines
// shared parameters.
type converter struct {
	definitions, parameters map[string]object
	registered              *definitions
}

func (c *converter) pathItem(item object) (out object) {
	for _, m := range item {
		switch v := m.value.(type) {
		case object:
			if !strings.HasPrefix(m.name, "x-") {
				v = c.operation(v)
			}
			out = out.with(m.name, v)
		case []any: // parameters of all operations
			parameters, _ := c.split(v)
			out = out.with(m.name, parameters)
		default:
			out = out.with(m.name, v)
		}
	}
	return out
}

func (c *converter) operation(o object) (out object) {
	for _, m := range o {
		switch m.name {
		case "consumes", "produces", "schemes":
		case "parameters":
			list, _ := m.value.([]any)
			parameters, body := c.split(list)
			if len(parameters) > 0 {
				out = out.with("parameters", parameters)
			}
			if body != nil {
				out = out.with("requestBody", c.requestBody(body, mediaTypes(o, "consumes")))
			}
		case "responses":
			responses, _ := m.value.(object)
			out = out.with("responses", c.responses(responses, mediaTypes(o, "produces")))
		default:
			out = out.with(m.name, m.value)
		}
	}
	return out
}

func mediaTypes(o object, field string) []string {
	var types []string
	list, _ := o.get(field).([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			types = append(types, text)
		}
	}
	if types == nil {
		return anyMediaType
	}
	return types
}

// split converts the parameters of an operation. It returns the body separately, because version 3
// bodies are not parameters.
func (c *converter) split(list []any) (parameters []any, body object) {
	for _, item := range list {
		p, _ := item.(object)
		if reference, ok := p.get("$ref").(string); ok {
			p = c.parameters[strings.TrimPrefix(reference, sections["parameters"])]
		}
		switch {
		case p == nil: // a dangling reference
		case p.get("in") == "body":
			body = p
		default:
			parameters = append(parameters, c.parameter(p))
		}
	}
	return parameters, body
}

// parameter moves the keywords that describe the value into a schema.
func (c *converter) parameter(p object) object {
	var out, value object
	for _, m := range p {
		switch m.name {
		case "name", "in", "description", "required":
			out = out.with(m.name, m.value)
		case "type", "format", "uniqueItems":
			value = value.with(m.name, m.value)
		default:
			if strings.HasPrefix(m.name, "x-") {
				out = out.with(m.name, m.value)
			}
		}
	}
	return out.with("schema", value)
}

func (c *converter) requestBody(p object, types []string) object {
	out := object{{"content", c.content(p.get("schema"), types)}}
	for _, name := range []string{"description", "required"} {
		if v := p.get(name); v != nil {
			out = out.with(name, v)
		}
	}
	return out
}

func (c *converter) content(of any, types []string) (out object) {
	converted := c.schema(of)
	for _, t := range types {
		out = out.with(t, object{{"schema", converted}})
	}
	return out
}

func (c *converter) responses(all object, types []string) (out object) {
	for _, m := range all {
		response, _ := m.value.(object)
		var converted object
		for _, part := range response {
			if part.name == "schema" {
				part = member{"content", c.content(part.value, types)}
			}
			converted = append(converted, part)
		}
		out = out.with(m.name, converted)
	}
	return out
}

// schema converts a schema and registers the definitions to which it refers. It wraps a reference
// in allOf, because version 3 ignores siblings of $ref.
func (c *converter) schema(v any) any {
	if list, ok := v.([]any); ok {
		var out []any
		for _, item := range list {
			out = append(out, c.schema(item))
		}
		return out
	}
	o, ok := v.(object)
	if !ok {
		return v
	}
	var out, reference object
	for _, m := range o {
		target, isText := m.value.(string)
		switch {
		case m.name == "$ref" && isText:
			reference = c.reference(strings.TrimPrefix(target, sections["definitions"]))
		case m.name == "properties":
			out = out.with(m.name, c.properties(m.value))
		case m.name == "default" || m.name == "enum" || strings.HasPrefix(m.name, "x-"): // values, not schemas
			out = append(out, m)
		default:
			out = out.with(m.name, c.schema(m.value))
		}
	}
	switch {
	case reference == nil:
		return out
	case out == nil:
		return reference
	}
	return out.with("allOf", []any{reference})
}

func (c *converter) properties(v any) any {
	named, _ := v.(object)
	var out object
	for _, m := range named {
		out = out.with(m.name, c.schema(m.value))
	}
	return out
}

func (c *converter) reference(name string) object {
	definition, there := c.definitions[name]
	var converted object
	if there && c.registered.add(name, func() object { return converted }) {
		converted, _ = c.schema(definition).(object)
	}
	return version3.ref(name)
}
