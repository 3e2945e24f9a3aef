package document

import (
	"cmp"
	"regexp"
	"slices"
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
	root  yaml.Node // empty if the text cannot be parsed
}

// A Location is the position of a field in a file.
type Location struct {
	Line int
	// Steps lead to the field: names (string) and list indexes (int). If the field does not exist,
	// they lead to the closest enclosing one.
	Steps []any
	Found bool
}

var pathStep = regexp.MustCompile(`\[(?:"(?:[^"\\]|\\.)*"|[^"\]])*\]|[^.\[]+`)

// Locate returns the location of a field. path is relative to the object at base. Both have the
// notation of the server's errors, such as spec.containers[0].image or
// .spec.containers[name="web"].image.
func (d *Document) Locate(base, path string) Location {
	if base == "" && path == "" {
		return Location{Line: d.Line + contentLine(d.Text), Found: true}
	}
	d.parse.Do(func() { yaml.Unmarshal(d.Text, &d.root) })
	if len(d.root.Content) == 0 {
		return Location{Line: d.Line}
	}
	root := d.root.Content[0]
	at := &cursor{Location{Line: root.Line}, root}
	at.follow(base)
	at.Steps = nil
	at.Found = at.follow(path)
	at.Line += d.Line - 1
	return at.Location
}

type cursor struct {
	Location
	node *yaml.Node
}

// follow moves the cursor along a path, as far as the path exists.
func (c *cursor) follow(path string) bool {
	for _, step := range pathStep.FindAllString(path, -1) {
		if !c.step(strings.TrimSuffix(strings.TrimPrefix(step, "["), "]")) {
			return false
		}
	}
	return true
}

func (c *cursor) step(key string) bool {
	key = unquote(key)
	list := cmp.Or(c.node.Alias, c.node)
	if list.Kind != yaml.SequenceNode {
		return c.enterKey(list, key)
	}
	for i, item := range list.Content {
		if key == strconv.Itoa(i) || hasKeys(item, key) {
			c.node, c.Line, c.Steps = item, item.Line, append(c.Steps, i)
			return true
		}
	}
	return false
}

// enterKey moves to the value of a key in a mapping or in a mapping that it merges.
func (c *cursor) enterKey(mapping *yaml.Node, key string) bool {
	if mapping.Kind != yaml.MappingNode {
		return false
	}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if pair[0].Value == key {
			c.node, c.Line, c.Steps = pair[1], pair[0].Line, append(c.Steps, key)
			return true
		}
	}
	for pair := range slices.Chunk(mapping.Content, 2) {
		if pair[0].Tag == "!!merge" && c.enterKey(cmp.Or(pair[1].Alias, pair[1]), key) {
			return true
		}
	}
	return false
}

var listKey = regexp.MustCompile(`([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)`)

// hasKeys reports whether a list item has the keys in a selector such as name="web",port=80.
// Missing keys match, because the server has set their defaults.
func hasKeys(item *yaml.Node, selector string) bool {
	keys := listKey.FindAllStringSubmatch(selector, -1)
	for _, k := range keys {
		value := &cursor{node: item}
		if (k[1] == "" || value.step(k[1])) && value.node.Value != unquote(k[2]) {
			return false
		}
	}
	return len(keys) > 0
}

func unquote(s string) string {
	if text, err := strconv.Unquote(s); err == nil {
		return text
	}
	return s
}
