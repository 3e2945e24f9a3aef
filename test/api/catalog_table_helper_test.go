package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type tableFile struct {
	name             string // the file's base name
	apiVersion, kind string
	base             map[string]any
	head             []string // the lines before the first row
	rows             []catalogRow
}

type catalogRow struct {
	text     string
	requests []catalogRequest
}

type catalogRequest struct {
	line       string
	verb       string // create, update, status, patch, get or delete
	apiVersion string // defaults to that of the table
	query      string // including its "?", or ""
	patch      map[string]any
	show       []string
	answer     []string
}

func read(path string) (*tableFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t := &tableFile{name: strings.TrimSuffix(filepath.Base(path), ".txt")}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if err := t.add(lines.Text()); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if t.kind == "" {
		return nil, fmt.Errorf("%s: no kind", path)
	}
	return t, lines.Err()
}

func (t *tableFile) add(line string) error {
	if text, ok := strings.CutPrefix(line, "## "); ok {
		t.rows = append(t.rows, catalogRow{text: text})
		return nil
	}
	if len(t.rows) == 0 {
		return t.addHead(line)
	}
	r := &t.rows[len(t.rows)-1]
	switch text, ok := strings.CutPrefix(line, "$ "); {
	case ok:
		q, err := parseCatalog(text)
		if err != nil {
			return err
		}
		r.requests = append(r.requests, q)
	case line == "":
	case len(r.requests) == 0:
		return fmt.Errorf("an answer before any request: %s", line)
	default:
		q := &r.requests[len(r.requests)-1]
		q.answer = append(q.answer, line)
	}
	return nil
}

func (t *tableFile) addHead(line string) error {
	t.head = append(t.head, line)
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "kind":
		t.apiVersion, t.kind, _ = strings.Cut(rest, " ")
	case "base":
		return json.Unmarshal([]byte(rest), &t.base)
	}
	return nil
}

// parseCatalog parses a request line without its leading "$".
func parseCatalog(line string) (catalogRequest, error) {
	q := catalogRequest{line: line}
	rest, show, _ := strings.Cut(line, " > ")
	q.show = strings.Fields(show)
	q.verb, rest, _ = strings.Cut(rest, " ")
	for rest != "" && rest[0] != '{' {
		var word string
		word, rest, _ = strings.Cut(rest, " ")
		switch word[0] {
		case '?':
			q.query = word
		case '@':
			q.apiVersion = word[1:]
		default:
			return q, fmt.Errorf("%q is no part of a request", word)
		}
	}
	if rest == "" {
		return q, nil
	}
	return q, json.Unmarshal([]byte(rest), &q.patch)
}

// write returns the table's text with new responses. All other bytes stay the same, so that a diff
// shows only changes in behavior.
func (t *tableFile) write(answers [][][]string) string {
	var b strings.Builder
	for _, line := range t.head {
		fmt.Fprintln(&b, line)
	}
	for i, r := range t.rows {
		if i > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, "## "+r.text)
		for j, q := range r.requests {
			fmt.Fprintln(&b, "$ "+q.line)
			for _, line := range answers[i][j] {
				fmt.Fprintln(&b, line)
			}
		}
	}
	return b.String()
}
