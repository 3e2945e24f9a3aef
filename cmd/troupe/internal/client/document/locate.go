package document

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A Document is the text of one YAML document or JSON object in a file.
type Document struct {
	Text []byte
	Line int // in the file at which Text begins, from 1

	parse sync.Once
	root  *yaml.Node // nil if the text cannot be parsed
}

// A Location is the position of a field in a file.
type Location struct {
	Line int
	// Steps lead to the field: names (string) and list indexes (int). If the document does not
	// contain the field, they lead to the closest enclosing one.
	Steps []any
	Found bool
}

var pathStep = regexp.MustCompile(`\[(?:"(?:[^"\\]|\\.)*"|[^"\]])*\]|[^.\[]+`)

// Locate returns the location of a field, whose path is relative to the object at base. Both have
// the notation of the server's errors, such as spec.containers[0].image or
// .spec.containers[name="web"].image.
func (d *Document) Locate(base, path string) Location {
	if base == "" && path == "" {
		return Location{Line: d.Line + d.blankLines(), Found: true}
	}
	d.parse.Do(func() {
		var root yaml.Node
		if yaml.Unmarshal(d.Text, &root) == nil && len(root.Content) > 0 {
			d.root = root.Content[0]
		}
	})
	if d.root == nil {
		return Location{Line: d.Line}
	}
	at := &cursor{node: d.root, line: d.root.Line}
	at.follow(base)
	at.steps = nil
	found := at.follow(path)
	return Location{d.Line + at.line - 1, at.steps, found}
}

// blankLines returns the number of lines before the first one with content.
func (d *Document) blankLines() (n int) {
	for line := range bytes.Lines(d.Text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return n
		}
		n++
	}
	return 0
}

type cursor struct {
	node  *yaml.Node
	line  int
	steps []any
}

// follow moves the cursor along a path, as far as it exists.
func (c *cursor) follow(path string) bool {
	for _, step := range pathStep.FindAllString(path, -1) {
		if !c.step(step) {
			return false
		}
	}
	return true
}

func (c *cursor) step(step string) bool {
	for c.node.Kind == yaml.AliasNode {
		c.node = c.node.Alias
	}
	key, isKey := strings.CutPrefix(step, "[")
	key = strings.TrimSuffix(key, "]")
	switch c.node.Kind {
	case yaml.MappingNode:
		if text, err := strconv.Unquote(key); err == nil {
			key = text
		}
		return c.enterKey(c.node, key)
	case yaml.SequenceNode:
		for i, item := range c.node.Content {
			if isKey && (key == strconv.Itoa(i) || hasKeys(item, key)) {
				c.node, c.line, c.steps = item, item.Line, append(c.steps, i)
				return true
			}
		}
	}
	return false
}

// enterKey moves to the value of a key in a mapping or in a mapping that it merges.
func (c *cursor) enterKey(mapping *yaml.Node, key string) bool {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if at := mapping.Content[i]; at.Value == key {
			c.node, c.line, c.steps = mapping.Content[i+1], at.Line, append(c.steps, key)
			return true
		}
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		merged := mapping.Content[i+1]
		if merged.Kind == yaml.AliasNode {
			merged = merged.Alias
		}
		if mapping.Content[i].Tag == "!!merge" && merged.Kind == yaml.MappingNode && c.enterKey(merged, key) {
			return true
		}
	}
	return false
}

var listKey = regexp.MustCompile(`([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)`)

// hasKeys reports whether a list item has the keys in a selector such as name="web",port=80. Keys
// that the item lacks have been defaulted and match.
func hasKeys(item *yaml.Node, selector string) bool {
	keys := listKey.FindAllStringSubmatch(selector, -1)
	for _, k := range keys {
		want := k[2]
		if text, err := strconv.Unquote(want); err == nil {
			want = text
		}
		value := &cursor{node: item}
		if (k[1] == "" || value.step(k[1])) && value.node.Value != want {
			return false
		}
	}
	return len(keys) > 0
}
