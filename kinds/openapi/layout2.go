package openapi

// The messages of version 2: package openapi.v2 of the gnostic models.

var document2 = &layout{
	fields: map[string]fieldMapping{
		"swagger":             stringAt(1),
		"info":                messageAt(info2, 2),
		"paths":               messageAt(paths2, 8),
		"definitions":         messageAt(mapMessage(messageAt(schema2, entryValue)), 9),
		"parameters":          messageAt(mapMessage(pickAt(pickParameter2, entryValue)), 10),
		"security":            messageAt(securityRequirement, 12),
		"securityDefinitions": messageAt(mapMessage(messageAt(apiKey2, entryValue, 2)), 13),
	},
	extensions: 16,
}

var info2 = &layout{fields: map[string]fieldMapping{"title": stringAt(1), "version": stringAt(2), "description": stringAt(3)}, extensions: 7}

var apiKey2 = &layout{
	fields:     map[string]fieldMapping{"type": stringAt(1), "name": stringAt(2), "in": stringAt(3), "description": stringAt(4)},
	extensions: 5,
}

var paths2 = &layout{
	extensions: 1, entriesNumber: 2,
	entries: &fieldMapping{path: fieldPath(entryValue), kind: kindMessage, layout: pathItem2},
}

var pathItem2 = &layout{
	fields: map[string]fieldMapping{
		"get": messageAt(operation2, 2), "put": messageAt(operation2, 3), "post": messageAt(operation2, 4),
		"delete": messageAt(operation2, 5), "options": messageAt(operation2, 6), "head": messageAt(operation2, 7),
		"patch":      messageAt(operation2, 8),
		"parameters": pickAt(pickParameterOrReference2, 9),
	},
	extensions: 10,
}

var operation2 = &layout{
	fields: map[string]fieldMapping{
		"tags": stringAt(1), "description": stringAt(3), "operationId": stringAt(5), "produces": stringAt(6), "consumes": stringAt(7),
		"parameters": pickAt(pickParameterOrReference2, 8), "responses": messageAt(responses2, 9), "schemes": stringAt(10),
		"deprecated": boolAt(11),
	},
	extensions: 13,
}

// responses2 holds responses by code; each may be a reference (2), but ours are not (1).
var responses2 = &layout{
	extensions: 2, entriesNumber: 1,
	entries: &fieldMapping{path: fieldPath(entryValue, 1), kind: kindMessage, layout: &layout{
		fields:     map[string]fieldMapping{"description": stringAt(1), "schema": messageAt(schema2, 2, 1)},
		extensions: 5,
	}},
}

// pickParameterOrReference2 tells parameters (1) from references to shared ones (2).
func pickParameterOrReference2(v any) fieldMapping {
	if isReference(v) {
		return messageAt(reference2, 2)
	}
	s := pickParameter2(v)
	s.path = append(fieldPath(1), s.path...)
	return s
}

var reference2 = &layout{fields: map[string]fieldMapping{"$ref": stringAt(1), "description": stringAt(2)}}

// pickParameter2 tells the parameter of the body (1) from those of queries and paths (2).
func pickParameter2(v any) fieldMapping {
	switch v.(object).get("in") {
	case "body":
		return messageAt(body2, 1)
	case "path":
		return messageAt(pathParameter2, 2, 4)
	}
	return messageAt(queryParameter2, 2, 3)
}

var body2 = &layout{
	fields: map[string]fieldMapping{
		"description": stringAt(1), "name": stringAt(2), "in": stringAt(3), "required": boolAt(4), "schema": messageAt(schema2, 5),
	},
	extensions: 6,
}

var queryParameter2 = &layout{
	fields: map[string]fieldMapping{
		"required": boolAt(1), "in": stringAt(2), "description": stringAt(3), "name": stringAt(4),
		"type": stringAt(6), "format": stringAt(7), "uniqueItems": boolAt(20),
	},
	extensions: 23,
}

var pathParameter2 = &layout{
	fields: map[string]fieldMapping{
		"required": boolAt(1), "in": stringAt(2), "description": stringAt(3), "name": stringAt(4),
		"type": stringAt(5), "format": stringAt(6), "uniqueItems": boolAt(19),
	},
	extensions: 22,
}

var schema2 = newSchema2()

// newSchema2 makes a layout that refers to itself.
//
// Its oneOf has no number, because version 2 does not know it; the builder does not write one either.
func newSchema2() *layout {
	l := &layout{extensions: 31}
	l.fields = map[string]fieldMapping{
		"$ref": stringAt(1), "format": stringAt(2), "description": stringAt(4), "default": anyAt(5),
		"maximum": doubleAt(7), "minimum": doubleAt(9), "maxLength": int64At(11), "minLength": int64At(12),
		"pattern": stringAt(13), "maxItems": int64At(14), "maxProperties": int64At(17), "required": stringAt(19),
		"enum": anyAt(20), "additionalProperties": messageAt(l, 21, 1), "type": {path: fieldPath(22), kind: kindStrings},
		"items": messageAt(l, 23, 1), "allOf": messageAt(l, 24), "properties": messageAt(mapMessage(messageAt(l, entryValue)), 25),
	}
	return l
}
