// Package embedded decodes tables that are embedded in the program. The tables are written as YAML,
// and make generate converts them to JSON.
package embedded

import (
	"bytes"
	"encoding/json"
)

// Decode decodes a table into v. It panics if the table is invalid or has unknown keys.
func Decode(table []byte, v any) {
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		panic(err)
	}
}
