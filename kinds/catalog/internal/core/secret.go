package core

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"

	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// secretStrategy are the types with rules of their own, in the spelling of a profile. Each type
// promises certain keys to its consumers: the ingress controller, the kubelet that pulls images, an
// SSH client. The keys themselves carry no vendor's name, so only types are translated.
type secretStrategy struct {
	family.AlwaysWarns
	serviceAccountToken, serviceAccountName string
	dockercfg, dockerconfigjson             string
	basicAuth, sshAuth, tls                 string
}

func newSecretStrategy(n *meta.Naming) secretStrategy {
	return secretStrategy{
		serviceAccountToken: n.Translate("platform.io/service-account-token"),
		serviceAccountName:  n.Translate("platform.io/service-account.name"),
		dockercfg:           n.Translate("platform.io/dockercfg"),
		dockerconfigjson:    n.Translate("platform.io/dockerconfigjson"),
		basicAuth:           n.Translate("platform.io/basic-auth"),
		sshAuth:             n.Translate("platform.io/ssh-auth"),
		tls:                 n.Translate("platform.io/tls"),
	}
}

func (secretStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	validateImmutableFlag(obj, old, faults, "data")
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

// Validate measures decoded bytes, as for a ConfigMap. Messages about Secrets must not contain
// their values: a Status ends up in logs and terminals.
func (t secretStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	data := obj.Object("data")
	size := 0
	for key := range data {
		size += field.DecodedSize(data.String(key))
	}
	if size > maxDataSize {
		faults.TooLong("data", maxDataSize)
	}
	t.validateContent(obj, data, faults)
}

// validateContent checks the keys that each type requires. A type without rules here is free: anyone may
// invent types, and Opaque is just the most common one.
func (t secretStrategy) validateContent(obj, data tree.Tree, faults *schema.Faults) {
	switch obj.String("type") {
	case t.serviceAccountToken:
		if obj.Object("metadata", "annotations").String(t.serviceAccountName) == "" {
			faults.Required(tree.KeyPath("metadata.annotations", t.serviceAccountName))
		}
	case t.dockercfg:
		validateJSONEntry(data, ".dockercfg", faults)
	case t.dockerconfigjson:
		validateJSONEntry(data, ".dockerconfigjson", faults)
	case t.basicAuth:
		_, user := data["username"]
		_, password := data["password"]
		if !user && !password {
			faults.Required("data[username]")
			faults.Required("data[password]")
		}
	case t.sshAuth:
		// An empty key counts as missing here, while for the others presence is enough; user names and
		// passwords may be empty.
		if data.String("ssh-privatekey") == "" {
			faults.Required("data[ssh-privatekey]")
		}
	case t.tls:
		// Whether the pair fits is a warning only, see Warnings: a certificate may be written before
		// its key is rotated in.
		for _, key := range []string{"tls.crt", "tls.key"} {
			if _, ok := data[key]; !ok {
				faults.Required(tree.KeyPath("data", key))
			}
		}
	}
}

// validateJSONEntry requires a JSON object. Its content never appears in the message. Both docker types are
// read by the kubelet as credentials; with JSON of another shape every pull of an image would fail later,
// on the node, where the reason is hard to see.
func validateJSONEntry(data tree.Tree, key string, faults *schema.Faults) {
	path := tree.KeyPath("data", key)
	if _, ok := data[key]; !ok {
		faults.Required(path)
		return
	}
	body, err := base64.StdEncoding.DecodeString(data.String(key))
	if err == nil {
		err = json.Unmarshal(body, &map[string]any{})
	}
	if err != nil {
		faults.Invalid(path, "<secret contents redacted>", faultOfJSON(err))
	}
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
