package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// format is the version of the format that Record writes and Read reads.
const format = 1

// A Header is the first line of a recording.
type Header struct {
	Format int    `json:"recording"`
	Naming string `json:"naming"`
	// ResourceVersion is the server's version when the recording began, or "" if it is unknown.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Secrets         string `json:"secrets"` // redact or copy
}

// An Entry is a request, a response or a watch event.
type Entry struct {
	Seq     int             `json:"seq"`
	Request int             `json:"request,omitempty"` // the Seq of the request of a response or event
	Method  string          `json:"method,omitempty"`
	URI     string          `json:"uri,omitempty"`
	Type    string          `json:"contentType,omitempty"` // of a patch
	Code    int             `json:"code,omitempty"`
	Event   string          `json:"event,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
}

// A Recording is the content of a file.
type Recording struct {
	Header
	Path    string
	Entries []Entry
}

// Read reads a recording.
func Read(path string) (*Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Recording{Path: path}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var e Entry
		into := any(&e)
		if n == 1 {
			into = &r.Header
		}
		err := json.Unmarshal(line, into)
		if err == nil && n > 1 && e.Seq != n {
			err = fmt.Errorf("seq is %d, must be the line number", e.Seq)
		}
		switch {
		case err != nil && !bytes.HasSuffix(line, []byte("\n")):
			continue // the recorder was killed
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		case n == 1 && r.Format > format:
			return nil, fmt.Errorf("%s: format %d is newer than %d: use a newer troupe", path, r.Format, format)
		case n == 1 && r.Format < 1:
			return nil, fmt.Errorf("%s:1: not a recording of troupe record", path)
		case n > 1:
			r.Entries = append(r.Entries, e)
		}
	}
	if len(r.Entries) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errNothing)
	}
	return r, nil
}

var errNothing = errors.New("nothing was recorded: the controller must use the kubeconfig in KUBECONFIG")
