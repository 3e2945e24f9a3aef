package authn

import (
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// TokenFile authenticates with a fixed list of bearer tokens. It keeps only their SHA-256 sums, so
// that the time of a lookup reveals nothing.
type TokenFile struct {
	users map[[sha256.Size]byte]*User
}

// ReadTokenFile parses comma-separated lines of token, user name, user id and, optionally, a quoted
// column of comma-separated groups:
//
//	31ada4fd-adec,jane,1001,"system:masters,developers"
//
// Empty lines and lines that begin with # are ignored. As in kube-apiserver, a line without a token
// is ignored, and the last line of a token wins; warn is called for both. Errors and warnings
// contain the line number, but never the token.
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

// Authenticate has no opinion on unknown tokens.
func (t *TokenFile) Authenticate(r Request) (*User, error) {
	if !r.HasToken || r.Token == "" {
		return nil, nil
	}
	return t.users[sha256.Sum256([]byte(r.Token))], nil
}
