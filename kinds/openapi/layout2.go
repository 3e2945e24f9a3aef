package openapi

// The messages of version 2: package openapi.v2 of the gnostic models.

var document2 = &layout{
	slots: map[string]slot{
		"swagger":             textAt(1),
		"info":                messageAt(info2, 2),
		"paths":               messageAt(paths2, 8),
		"definitions":         messageAt(keyed(messageAt(schema2, entryValue)), 9),
		"parameters":          messageAt(keyed(pickAt(pickParameter2, entryValue)), 10),
		"security":            messageAt(securityRequirement, 12),
		"securityDefinitions": messageAt(keyed(messageAt(apiKey2, entryValue, 2)), 13),
	},
	extensions: 16,
}

var info2 = &layout{slots: map[string]slot{"title": textAt(1), "version": textAt(2), "description": textAt(3)}, extensions: 7}

var apiKey2 = &layout{
	slots:      map[string]slot{"type": textAt(1), "name": textAt(2), "in": textAt(3), "description": textAt(4)},
	extensions: 5,
}

var paths2 = &layout{
	extensions: 1, entriesNumber: 2,
	entries: &slot{way: way(entryValue), form: formMessage, layout: pathItem2},
}

var pathItem2 = &layout{
	slots: map[string]slot{
		"get": messageAt(operation2, 2), "put": messageAt(operation2, 3), "post": messageAt(operation2, 4),
		"delete": messageAt(operation2, 5), "patch": messageAt(operation2, 8),
		"parameters": pickAt(pickParameterOrReference2, 9),
	},
	extensions: 10,
}

var operation2 = &layout{
	slots: map[string]slot{
		"tags": textAt(1), "description": textAt(3), "operationId": textAt(5), "produces": textAt(6), "consumes": textAt(7),
		"parameters": pickAt(pickParameterOrReference2, 8), "responses": messageAt(responses2, 9), "schemes": textAt(10),
		"deprecated": flagAt(11),
	},
	extensions: 13,
}

// responses2 holds responses by code; each may be a reference (2), but ours are not (1).
var responses2 = &layout{
	extensions: 2, entriesNumber: 1,
	entries: &slot{way: way(entryValue, 1), form: formMessage, layout: &layout{
		slots:      map[string]slot{"description": textAt(1), "schema": messageAt(schema2, 2, 1)},
		extensions: 5,
	}},
}

// pickParameterOrReference2 tells parameters (1) from references to shared ones (2).
func pickParameterOrReference2(v any) slot {
	if isReference(v) {
		return messageAt(reference2, 2)
	}
	s := pickParameter2(v)
	s.way = append(way(1), s.way...)
	return s
}

var reference2 = &layout{slots: map[string]slot{"$ref": textAt(1), "description": textAt(2)}}

// pickParameter2 tells the parameter of the body (1) from those of queries and paths (2).
func pickParameter2(v any) slot {
	switch v.(object).get("in") {
	case "body":
		return messageAt(body2, 1)
	case "path":
		return messageAt(pathParameter2, 2, 4)
	}
	return messageAt(queryParameter2, 2, 3)
}

var body2 = &layout{
	slots: map[string]slot{
		"description": textAt(1), "name": textAt(2), "in": textAt(3), "required": flagAt(4), "schema": messageAt(schema2, 5),
	},
	extensions: 6,
}

var queryParameter2 = &layout{
	slots: map[string]slot{
		"required": flagAt(1), "in": textAt(2), "description": textAt(3), "name": textAt(4),
		"type": textAt(6), "format": textAt(7), "uniqueItems": flagAt(20),
	},
	extensions: 23,
}

var pathParameter2 = &layout{
	slots: map[string]slot{
		"required": flagAt(1), "in": textAt(2), "description": textAt(3), "name": textAt(4),
		"type": textAt(5), "format": textAt(6), "uniqueItems": flagAt(19),
	},
	extensions: 22,
}

var schema2 = newSchema2()

// newSchema2 makes a layout that refers to itself.
func newSchema2() *layout {
	l := &layout{extensions: 31}
	l.slots = map[string]slot{
		"$ref": textAt(1), "format": textAt(2), "description": textAt(4), "default": anyAt(5),
		"maximum": numberAt(7), "minimum": numberAt(9), "maxLength": integerAt(11), "minLength": integerAt(12),
		"pattern": textAt(13), "maxItems": integerAt(14), "maxProperties": integerAt(17), "required": textAt(19),
		"enum": anyAt(20), "additionalProperties": messageAt(l, 21, 1), "type": {way: way(22), form: formTexts},
		"items": messageAt(l, 23, 1), "allOf": messageAt(l, 24), "properties": messageAt(keyed(messageAt(l, entryValue)), 25),
	}
	return l
}
