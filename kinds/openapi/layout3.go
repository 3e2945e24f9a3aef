package openapi

// The messages of version 3: package openapi.v3 of the gnostic models.

var document3 = &layout{
	fields: map[string]fieldMapping{
		"openapi": stringAt(1), "info": messageAt(info3, 2), "paths": messageAt(paths3, 4),
		"components": messageAt(components3, 5), "security": messageAt(securityRequirement, 6),
	},
	extensions: 9,
}

var info3 = &layout{fields: map[string]fieldMapping{"title": stringAt(1), "description": stringAt(2), "version": stringAt(6)}, extensions: 7}

var components3 = &layout{
	fields: map[string]fieldMapping{
		"schemas":         messageAt(mapMessage(pickAt(orReference3(schema3), entryValue)), 1),
		"securitySchemes": messageAt(mapMessage(messageAt(securityScheme3, entryValue, 1)), 7),
	},
	extensions: 10,
}

var securityScheme3 = &layout{
	fields:     map[string]fieldMapping{"type": stringAt(1), "description": stringAt(2), "name": stringAt(3), "in": stringAt(4)},
	extensions: 9,
}

var paths3 = &layout{
	extensions: 2, entriesNumber: 1,
	entries: &fieldMapping{path: fieldPath(entryValue), kind: kindMessage, layout: pathItem3},
}

var pathItem3 = &layout{
	fields: map[string]fieldMapping{
		"get": messageAt(operation3, 4), "put": messageAt(operation3, 5), "post": messageAt(operation3, 6),
		"delete": messageAt(operation3, 7), "options": messageAt(operation3, 8), "head": messageAt(operation3, 9),
		"patch": messageAt(operation3, 10), "parameters": messageAt(parameter3, 13, 1),
	},
	extensions: 14,
}

var operation3 = &layout{
	fields: map[string]fieldMapping{
		"tags": stringAt(1), "description": stringAt(3), "operationId": stringAt(5), "parameters": messageAt(parameter3, 6, 1),
		"requestBody": messageAt(requestBody3, 7, 1), "responses": messageAt(responses3, 8), "deprecated": boolAt(10),
	},
	extensions: 13,
}

var parameter3 = &layout{
	fields: map[string]fieldMapping{
		"name": stringAt(1), "in": stringAt(2), "description": stringAt(3), "required": boolAt(4),
		"schema": pickAt(orReference3(schema3), 10),
	},
	extensions: 14,
}

var requestBody3 = &layout{
	fields:     map[string]fieldMapping{"description": stringAt(1), "content": messageAt(content3, 2), "required": boolAt(3)},
	extensions: 4,
}

// content3 holds schemas by media type.
var content3 = mapMessage(messageAt(&layout{
	fields: map[string]fieldMapping{"schema": pickAt(orReference3(schema3), 1)}, extensions: 5,
}, entryValue))

// responses3 holds responses by code; each may be a reference (2), but ours are not (1).
var responses3 = &layout{
	extensions: 3, entriesNumber: 2,
	entries: &fieldMapping{path: fieldPath(entryValue, 1), kind: kindMessage, layout: &layout{
		fields:     map[string]fieldMapping{"description": stringAt(1), "content": messageAt(content3, 3)},
		extensions: 5,
	}},
}

var reference3 = &layout{fields: map[string]fieldMapping{"$ref": stringAt(1), "summary": stringAt(2), "description": stringAt(3)}}

// orReference3 tells messages (1) from references (2).
func orReference3(l *layout) func(any) fieldMapping {
	return func(v any) fieldMapping {
		if isReference(v) {
			return messageAt(reference3, 2)
		}
		return messageAt(l, 1)
	}
}

var schema3 = newSchema3()

// newSchema3 makes a layout that refers to itself.
//
// Members that have no number here, such as some validations of custom kinds, are left out of the Protobuf form.
func newSchema3() *layout {
	l := &layout{extensions: 36}
	some := orReference3(l)
	l.fields = map[string]fieldMapping{
		"maximum": doubleAt(11), "minimum": doubleAt(13), "maxLength": int64At(15), "minLength": int64At(16),
		"pattern": stringAt(17), "maxItems": int64At(18), "uniqueItems": boolAt(20), "maxProperties": int64At(21),
		"required": stringAt(23), "enum": anyAt(24), "type": stringAt(25), "allOf": pickAt(some, 26), "oneOf": pickAt(some, 27),
		"items": pickAt(some, 30, 1), "properties": messageAt(mapMessage(pickAt(some, entryValue)), 31),
		"additionalProperties": pickAt(some, 32, 1), "default": pickAt(pickDefault3, 33),
		"description": stringAt(34), "format": stringAt(35),
	}
	return l
}

// pickDefault3 tells numbers (1), flags (2) and strings (3). Other defaults have no field and become an
// empty message.
func pickDefault3(v any) fieldMapping {
	switch v.(type) {
	case int64, float64:
		return doubleAt(1)
	case bool:
		return boolAt(2)
	case string:
		return stringAt(3)
	}
	return messageAt(nothing3)
}

var nothing3 = &layout{}
