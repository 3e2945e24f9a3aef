package meta

import (
	"net/http"
	"strconv"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// AppendJSON appends the Status as clients receive it. It omits the code 200 of a Success.
func (s *Status) AppendJSON(b []byte) []byte {
	b = append(b, `{"kind":"Status","apiVersion":"v1","metadata":{`...)
	if s.Continue != "" {
		b = append(b, `"continue":`...)
		b = jsontext.AppendString(b, s.Continue)
	}
	b = append(b, `},"status":`...)
	if s.Success {
		b = append(b, `"Success"`...)
	} else {
		b = append(b, `"Failure"`...)
	}
	b = appendMember(b, "message", s.Message)
	b = appendMember(b, "reason", string(s.Reason))
	if s.Details != nil {
		b = append(b, `,"details":`...)
		b = s.Details.appendJSON(b)
	}
	if s.Code != 0 && !(s.Success && s.Code == http.StatusOK) {
		b = append(b, `,"code":`...)
		b = strconv.AppendInt(b, int64(s.Code), 10)
	}
	return append(b, '}')
}

func (d *Details) appendJSON(b []byte) []byte {
	open := len(b)
	b = appendMember(b, "name", d.Name)
	b = appendMember(b, "group", d.Group)
	b = appendMember(b, "kind", d.Kind)
	b = appendMember(b, "uid", d.UID)
	if len(d.Causes) > 0 {
		b = append(b, `,"causes":[`...)
		for i, c := range d.Causes {
			if i > 0 {
				b = append(b, ',')
			}
			b = c.appendJSON(b)
		}
		b = append(b, ']')
	}
	if d.RetryAfterSeconds != 0 {
		b = append(b, `,"retryAfterSeconds":`...)
		b = strconv.AppendInt(b, int64(d.RetryAfterSeconds), 10)
	}
	return closeObject(b, open)
}

func (c *Cause) appendJSON(b []byte) []byte {
	open := len(b)
	b = appendMember(b, "reason", string(c.Type))
	b = appendMember(b, "message", c.Message)
	b = appendMember(b, "field", c.Field)
	return closeObject(b, open)
}

// closeObject ends an object whose members, if any, begin with a comma at open. It turns that comma
// into the opening brace.
func closeObject(b []byte, open int) []byte {
	if len(b) == open {
		return append(b, "{}"...)
	}
	b[open] = '{'
	return append(b, '}')
}

func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, name...)
	b = append(b, '"', ':')
	return jsontext.AppendString(b, value)
}
