package openapi

// The messages of version 3: package openapi.v3 of the gnostic models.

var document3 = &layout{
	slots: map[string]slot{
		"openapi": textAt(1), "info": messageAt(info3, 2), "paths": messageAt(paths3, 4),
		"components": messageAt(components3, 5), "security": messageAt(securityRequirement, 6),
	},
	extensions: 9,
}

var info3 = &layout{slots: map[string]slot{"title": textAt(1), "description": textAt(2), "version": textAt(6)}, extensions: 7}

var components3 = &layout{
	slots: map[string]slot{
		"schemas":         messageAt(keyed(pickAt(orReference3(schema3), entryValue)), 1),
		"securitySchemes": messageAt(keyed(messageAt(securityScheme3, entryValue, 1)), 7),
	},
	extensions: 10,
}

var securityScheme3 = &layout{
	slots:      map[string]slot{"type": textAt(1), "description": textAt(2), "name": textAt(3), "in": textAt(4)},
	extensions: 9,
}

var paths3 = &layout{
	extensions: 2, entriesNumber: 1,
	entries: &slot{way: way(entryValue), form: formMessage, layout: pathItem3},
}

var pathItem3 = &layout{
	slots: map[string]slot{
		"get": messageAt(operation3, 4), "put": messageAt(operation3, 5), "post": messageAt(operation3, 6),
		"delete": messageAt(operation3, 7), "patch": messageAt(operation3, 10), "parameters": messageAt(parameter3, 13, 1),
	},
	extensions: 14,
}

var operation3 = &layout{
	slots: map[string]slot{
		"tags": textAt(1), "description": textAt(3), "operationId": textAt(5), "parameters": messageAt(parameter3, 6, 1),
		"requestBody": messageAt(requestBody3, 7, 1), "responses": messageAt(responses3, 8), "deprecated": flagAt(10),
	},
	extensions: 13,
}

var parameter3 = &layout{
	slots: map[string]slot{
		"name": textAt(1), "in": textAt(2), "description": textAt(3), "required": flagAt(4),
		"schema": pickAt(orReference3(schema3), 10),
	},
	extensions: 14,
}

var requestBody3 = &layout{
	slots:      map[string]slot{"description": textAt(1), "content": messageAt(content3, 2), "required": flagAt(3)},
	extensions: 4,
}

// content3 holds schemas by media type.
var content3 = keyed(messageAt(&layout{
	slots: map[string]slot{"schema": pickAt(orReference3(schema3), 1)}, extensions: 5,
}, entryValue))

// responses3 holds responses by code; each may be a reference (2), but ours are not (1).
var responses3 = &layout{
	extensions: 3, entriesNumber: 2,
	entries: &slot{way: way(entryValue, 1), form: formMessage, layout: &layout{
		slots:      map[string]slot{"description": textAt(1), "content": messageAt(content3, 3)},
		extensions: 5,
	}},
}

var reference3 = &layout{slots: map[string]slot{"$ref": textAt(1), "summary": textAt(2), "description": textAt(3)}}

// orReference3 tells messages (1) from references (2).
func orReference3(l *layout) func(any) slot {
	return func(v any) slot {
		if isReference(v) {
			return messageAt(reference3, 2)
		}
		return messageAt(l, 1)
	}
}

var schema3 = newSchema3()

// newSchema3 makes a layout that refers to itself.
func newSchema3() *layout {
	l := &layout{extensions: 36}
	some := orReference3(l)
	l.slots = map[string]slot{
		"maximum": numberAt(11), "minimum": numberAt(13), "maxLength": integerAt(15), "minLength": integerAt(16),
		"pattern": textAt(17), "maxItems": integerAt(18), "uniqueItems": flagAt(20), "maxProperties": integerAt(21),
		"required": textAt(23), "enum": anyAt(24), "type": textAt(25), "allOf": pickAt(some, 26), "oneOf": pickAt(some, 27),
		"items": pickAt(some, 30, 1), "properties": messageAt(keyed(pickAt(some, entryValue)), 31),
		"additionalProperties": pickAt(some, 32, 1), "default": pickAt(pickDefault3, 33),
		"description": textAt(34), "format": textAt(35),
	}
	return l
}

// pickDefault3 tells numbers (1), flags (2) and texts (3). Other defaults have no field:
// an empty message stands for them.
func pickDefault3(v any) slot {
	switch v.(type) {
	case int64, float64:
		return numberAt(1)
	case bool:
		return flagAt(2)
	case string:
		return textAt(3)
	}
	return messageAt(nothing3)
}

var nothing3 = &layout{}
