package table

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

// showJSON shows the first value at a path in the format of the column type, or null for a value of
// another type. Integer columns truncate fractions.
func showJSON(columnType, path string) cellFunc {
	p, ok := jsonpath.Parse(path)
	if !ok {
		return showNothing
	}
	return func(b []byte, r *row, _ string) []byte {
		v := p.First(r.json.Text(), &r.work)
		if v != nil && columnType == "string" && string(v) == "null" {
			return jsontext.AppendString(b, "<no value>") // distinguishes null from an absent value
		}
		if !v.Exists() {
			return append(b, "null"...)
		}
		switch columnType {
		case "date":
			if v[0] == '"' {
				return appendDate(b, v.Text(), r.now)
			}
		case "integer":
			if f, err := strconv.ParseFloat(string(v), 64); err == nil {
				return strconv.AppendInt(b, int64(f), 10)
			}
		case "number":
			if _, err := strconv.ParseFloat(string(v), 64); err == nil {
				return append(b, v...)
			}
		case "boolean":
			if v.IsTrue() || string(v) == "false" {
				return append(b, v...)
			}
		default:
			return jsontext.AppendString(b, jsonpath.Text(v))
		}
		return append(b, "null"...)
	}
}

func appendDate(b []byte, text string, now time.Time) []byte {
	if _, err := time.Parse(time.RFC3339, text); err != nil && text != "" {
		return jsontext.AppendString(b, "<invalid>")
	}
	return jsontext.AppendString(b, Age(text, now))
}
