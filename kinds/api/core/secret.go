package core

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type secretStrategy struct{ schema.AlwaysWarns }

// Default sets the type, and moves the write-only stringData into data, so that no response
// contains stringData. stringData takes precedence, so a manifest can override a key in plain text.
func (secretStrategy) Default(obj tree.Tree) {
	if obj.String("type") == "" {
		obj["type"] = "Opaque"
	}
	if plain := obj.Object("stringData"); len(plain) > 0 {
		data := tree.Tree{} // a copy, because obj may share its data with old
		maps.Copy(data, obj.Object("data"))
		for key := range plain {
			data[key] = base64.StdEncoding.EncodeToString([]byte(plain.String(key)))
		}
		obj["data"] = data
	}
	delete(obj, "stringData")
}

// warnOfKeyPair warns about an invalid key pair. The warning includes the crypto/tls error,
// which reveals no secrets.
func warnOfKeyPair(data tree.Tree, _ string, faults *schema.Faults) {
	certificate, _ := base64.StdEncoding.DecodeString(data.String("tls.crt"))
	key, _ := base64.StdEncoding.DecodeString(data.String("tls.key"))
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		faults.Warn("", err.Error())
	}
}

// faultOfJSON describes a JSON error without quoting the content. Go's syntax errors quote a
// character, which may be part of a password.
func faultOfJSON(err error) string {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return "must be a JSON object"
	}
	return "must be valid JSON"
}

func validateSecretJSON(text, path string, faults *schema.Faults) {
	body, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(body, &map[string]any{})
	}
	if err != nil {
		faults.Invalid(path, "<secret contents redacted>", faultOfJSON(err))
	}
}
