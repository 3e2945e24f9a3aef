package actors

import (
	"encoding/base64"
	"encoding/json"
)

// token is what a continue token says: which list it belongs to, the version of the
// list, and the path of the next object. It carries no data; a forged one reads
// nothing that its request may not read anyway.
type token struct {
	Resource  string `json:"r"`
	Namespace string `json:"n,omitempty"`
	Version   uint64 `json:"v"`
	Next      string `json:"s"`
}

// encodeToken is base64url of JSON, without padding.
func encodeToken(t token) string {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and a number always encode
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func decodeToken(s string) (t token, err error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(text, &t)
}
