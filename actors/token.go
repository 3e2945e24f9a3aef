package actors

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// token is the content of a continue token: the list, its version, and the path of the next object.
// It needs no signature: a forged one reads nothing that its request may not read anyway.
type token struct {
	Resource  string `json:"r"`
	Namespace string `json:"n,omitempty"`
	Selectors string `json:"q,omitempty"`
	Version   uint64 `json:"v,omitempty"`
	// Newest continues in the newest state instead of at a version, since that is gone.
	Newest bool   `json:"c,omitempty"`
	Next   string `json:"s"`
	// Began is when the first chunk was read, in Unix seconds by the clock of process By; 0 in
	// tokens of earlier releases.
	Began int64  `json:"t,omitempty"`
	By    string `json:"b,omitempty"`
}

var (
	errTokenVersion = errors.New("it has no version")
	errTokenStart   = errors.New("it has no position to continue from")
)

// ContinuesNewest reports whether a token continues its list in the newest state.
func ContinuesNewest(continueToken string) bool {
	t, err := decodeToken(continueToken)
	return err == nil && t.Newest
}

// encodeToken returns base64url of JSON, without padding.
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
