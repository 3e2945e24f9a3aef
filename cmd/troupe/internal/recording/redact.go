package recording

import (
	"encoding/base64"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

var redacted = base64.StdEncoding.EncodeToString([]byte("redacted"))

// Redact replaces the values of Secrets in an object, a list, a patch or the response to a token
// request. It removes the copy of the values that kubectl apply keeps.
func Redact(v any, naming *meta.Naming) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			Redact(item, naming)
		}
	case tree.Tree:
		for name, value := range v {
			switch name {
			case "metadata":
				delete(v.Annotations(), naming.Translate("kubectl.platform.io/last-applied-configuration"))
			case "data", "stringData", "token", "value":
				v[name] = redactValues(value)
			default:
				Redact(value, naming)
			}
		}
	}
}

func redactValues(v any) any {
	switch v := v.(type) {
	case nil: // a patch removes the value
		return nil
	case tree.Tree:
		for name, value := range v {
			v[name] = redactValues(value)
		}
		return v
	}
	return redacted
}
