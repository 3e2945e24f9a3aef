package core

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// secretStrategy are the types with rules of their own, in the spelling of a profile. Each type
// promises certain keys to its consumers: the ingress controller, the kubelet that pulls images, an
// SSH client. The keys themselves carry no vendor's name, so only types are translated.
type secretStrategy struct {
	family.AlwaysWarns
	tls string // the type of Secrets with a certificate
}

// Default sets the type and moves stringData, which is write-only, into data. stringData wins, so
// that a manifest can override one key in plain text. It is removed before the object is stored and
// so appears in no response.
func (secretStrategy) Default(obj tree.Tree) {
	if obj.String("type") == "" {
		obj["type"] = "Opaque"
	}
	if plain := obj.Object("stringData"); len(plain) > 0 {
		data := tree.Tree{} // not changed in place: obj may share its data with the previous state
		maps.Copy(data, obj.Object("data"))
		for key := range plain {
			data[key] = base64.StdEncoding.EncodeToString([]byte(plain.String(key)))
		}
		obj["data"] = data
	}
	delete(obj, "stringData")
}

// faultOfJSON describes an error without repeating a byte of the content. The text of a syntax error quotes
// the offending character, which may belong to a password.
func faultOfJSON(err error) string {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return "must be a JSON object"
	}
	return "must be valid JSON"
}

// validateSecretJSON checks an entry whose data is a JSON object.
func validateSecretJSON(text, path string, faults *schema.Faults) {
	body, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(body, &map[string]any{})
	}
	if err != nil {
		faults.Invalid(path, "<secret contents redacted>", faultOfJSON(err))
	}
}
