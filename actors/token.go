package actors

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// token is the content of a continue token. It is not signed, because a forged token grants no
// additional access.
type token struct {
	Resource  string `json:"r"`
	Namespace string `json:"n,omitempty"`
	Selectors string `json:"q,omitempty"`
	Version   uint64 `json:"v,omitempty"`
	// Newest means that the list continues at the newest version, because the state at Version is
	// gone.
	Newest bool   `json:"c,omitempty"`
	Logged bool   `json:"l,omitempty"` // the state at Version may be read from the log
	Next   string `json:"s"`
	// Began is the Unix time in seconds at which the process named in By read the first chunk. It
	// is 0 in tokens from earlier releases.
	Began int64  `json:"t,omitempty"`
	By    string `json:"b,omitempty"`
}

var (
	errTokenVersion = errors.New("it has no version")
	errTokenStart   = errors.New("it has no position to continue from")
)

// ContinuesNewest reports whether a token continues its list at the newest version, which makes the
// list inconsistent.
func ContinuesNewest(continueToken string) bool {
	t, err := decodeToken(continueToken)
	return err == nil && t.Newest
}

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
