package openapi

import (
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
)

// An operation describes one method of a path. content2 and content3 write the operation for
// OpenAPI versions 2 and 3. In version 2, the body is a parameter and media types belong to the
// operation. In version 3, each body and response has its own media types.
type operation struct {
	id, tag, description string
	action               string // "" for operations not on objects
	kind                 meta.GroupVersionKind
	parameters           []parameter
	body                 string   // definition of the request body, or ""
	bodyOptional         bool     // the body may be omitted
	consumes             []string // media types of the body
	produces             []string
	response             string // definition of the response; "" for a string
	statusCodes          []int  // success codes
	deprecated           bool
}

// responseDescriptions lists the descriptions of responses by status code. Every operation may
// return 401.
var responseDescriptions = map[int]string{200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}

func (b *builder) operation(o operation) object {
	out := object{{"description", o.description}, {"operationId", o.id}, {"tags", []string{o.tag}}}
	if o.deprecated {
		out = out.with("deprecated", true)
	}
	if b.dialect.v3 {
		out = b.content3(out, o)
	} else {
		out = b.content2(out, o)
	}
	if o.action == "" {
		return out
	}
	return append(out, member{b.names.extension("action"), o.action}, member{b.names.extension("group-version-kind"), gvkObject(o.kind)})
}

func (b *builder) content2(out object, o operation) object {
	parameters := b.dialect.parameters(o.parameters)
	if o.body != "" {
		body := object{{"in", "body"}, {"name", "body"}}
		if !o.bodyOptional {
			body = body.with("required", true)
		}
		parameters = append([]any{body.with("schema", b.dialect.ref(o.body))}, parameters...)
	}
	responses := object{}
	for _, code := range o.statusCodes {
		responses = responses.with(strconv.Itoa(code), object{{"description", responseDescriptions[code]}, {"schema", b.schemaOf(o.response)}})
	}
	responses = responses.with("401", object{{"description", responseDescriptions[401]}})
	out = append(out, member{"consumes", o.consumes}, member{"produces", o.produces}, member{"schemes", []string{"https"}})
	if len(parameters) > 0 {
		out = out.with("parameters", parameters)
	}
	return out.with("responses", responses)
}

func (b *builder) content3(out object, o operation) object {
	if len(o.parameters) > 0 {
		out = out.with("parameters", b.dialect.parameters(o.parameters))
	}
	if o.body != "" {
		body := object{{"content", b.content(o.consumes, o.body)}}
		if !o.bodyOptional {
			body = body.with("required", true)
		}
		out = out.with("requestBody", body)
	}
	responses := object{}
	for _, code := range o.statusCodes {
		responses = responses.with(strconv.Itoa(code), object{{"description", responseDescriptions[code]}, {"content", b.content(o.produces, o.response)}})
	}
	return out.with("responses", responses.with("401", object{{"description", responseDescriptions[401]}}))
}

func (b *builder) content(mediaTypes []string, definition string) object {
	o := make(object, len(mediaTypes))
	for i, t := range mediaTypes {
		o[i] = member{t, object{{"schema", b.schemaOf(definition)}}}
	}
	return o
}

func (b *builder) schemaOf(definition string) object {
	if definition == "" {
		return object{{"type", "string"}}
	}
	return b.dialect.ref(definition)
}
