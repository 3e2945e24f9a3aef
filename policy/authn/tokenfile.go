package authn

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// TokenFile authenticates requests with a static list of bearer tokens. It looks them up by SHA-256
// sum, so that the duration of a lookup reveals nothing about the tokens.
type TokenFile struct {
	users map[[sha256.Size]byte]*User
}

// ReadTokenFile parses comma-separated lines of token, user name, user ID and optional groups:
//
//	31ada4fd-adec,jane,1001,"system:masters,developers"
//
// It ignores empty lines and lines that start with #. As in kube-apiserver, it skips lines without
// a token, and the last of several lines with the same token takes precedence. It calls warn for
// such lines. Errors and warnings contain the line number, but never the token.
func ReadTokenFile(r io.Reader, warn func(text string)) (*TokenFile, error) {
	lines := csv.NewReader(r)
	lines.FieldsPerRecord = -1
	lines.Comment = '#'
	lines.TrimLeadingSpace = true
	t := &TokenFile{users: map[[sha256.Size]byte]*User{}}
	for {
		record, err := lines.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("token file: %w", err)
		}
		line, _ := lines.FieldPos(0)
		warning, err := t.add(record)
		if err != nil {
			return nil, fmt.Errorf("token file: line %d: %w", line, err)
		}
		if warning != "" {
			warn(fmt.Sprintf("line %d: %s", line, warning))
		}
	}
}

func (t *TokenFile) add(record []string) (warning string, err error) {
	if len(record) < 3 {
		return "", fmt.Errorf("%d columns instead of token, user and user id", len(record))
	}
	if len(record) > 4 {
		return "", errors.New("more than 4 columns: several groups go into one pair of double quotes")
	}
	token, user := record[0], &User{Name: record[1], UID: record[2]}
	if token == "" {
		return "the token is empty; the line is ignored", nil
	}
	if user.Name == "" {
		return "", errors.New("the user must not be empty")
	}
	if len(record) == 4 {
		for _, group := range strings.Split(record[3], ",") {
			if group = strings.TrimSpace(group); group != "" {
				user.Groups = append(user.Groups, group)
			}
		}
	}
	sum := sha256.Sum256([]byte(token))
	if t.users[sum] != nil {
		warning = "duplicate token; the last line applies"
	}
	t.users[sum] = user
	return warning, nil
}

// Authenticate returns the token's user. It has no opinion on unknown tokens.
func (t *TokenFile) Authenticate(r Request) (*User, error) {
	if !r.HasToken || r.Token == "" {
		return nil, nil
	}
	return t.users[sha256.Sum256([]byte(r.Token))], nil
}
