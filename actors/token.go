package actors

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// token is the content of a continue token: which list it belongs to, the version of the list, and the
// path of the next object. It needs no signature: a forged one reads nothing that its request could not
// read anyway.
type token struct {
	Resource  string `json:"r"`
	Namespace string `json:"n,omitempty"`
	Selectors string `json:"q,omitempty"`
	Version   uint64 `json:"v,omitempty"`
	// Newest, instead of a version, continues in the newest state, since the list's own is gone.
	Newest bool   `json:"c,omitempty"`
	Next   string `json:"s"`
	// Began is when the first chunk was read, in seconds, by the clock of the process By; 0 in tokens of releases before.
	Began int64  `json:"t,omitempty"`
	By    string `json:"b,omitempty"`
}

var (
	errTokenVersion = errors.New("it holds no version")
	errTokenStart   = errors.New("it holds no place to go on from")
)

// ContinuesNewest tells whether the list that a token belongs to goes on in the newest state.
func ContinuesNewest(continueToken string) bool {
	t, err := decodeToken(continueToken)
	return err == nil && t.Newest
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
	if err := json.Unmarshal(text, &t); err != nil {
		return t, err
	}
	switch {
	case t.Newest == (t.Version > 0):
		err = errTokenVersion
	case t.Next == "":
		err = errTokenStart
	}
	return t, err
}
