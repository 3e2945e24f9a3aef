package table

import "github.com/troupe-api/troupe/kinds/jsontext"

func showComponentHealth(b []byte, r *row, _ string) []byte {
	c := condition(r.json.At("conditions"), "Healthy")
	switch {
	case c == nil:
		return jsontext.AppendString(b, "Unknown")
	case c.Field("status").Text() == "True":
		return jsontext.AppendString(b, "Healthy")
	}
	return jsontext.AppendString(b, "Unhealthy")
}

func showComponentCondition(b []byte, r *row, field string) []byte {
	return jsontext.AppendString(b, condition(r.json.At("conditions"), "Healthy").Field(field).Text())
}
