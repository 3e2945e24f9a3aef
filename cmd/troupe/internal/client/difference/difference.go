package difference

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Unified returns the unified diff of two states in YAML, or "" if they are equal. nil is a missing
// object. Fields that every write changes are omitted, and secret values are masked.
func Unified(before, after tree.Tree, from, to string) string {
	a, b := masked(before), masked(after)
	if before == nil || after == nil { // fields of a new object that the server sets
		for _, t := range []tree.Tree{a, b} {
			delete(t.Object("metadata"), "uid")
			delete(t.Object("metadata"), "creationTimestamp")
		}
	}
	maskPair(before, after, a, b)
	return udiff.Unified(from, to, text(a), text(b))
}

// Same reports whether two states are equal except for fields that every write changes. The
// resource version cannot tell, because dry runs have none.
func Same(before, after tree.Tree) bool { return tree.StrictEqual(masked(before), masked(after)) }

func text(t tree.Tree) string {
	if t == nil {
		return ""
	}
	return string(document.YAML(t))
}

// masked returns a copy without fields that every write changes.
func masked(t tree.Tree) tree.Tree {
	if t == nil {
		return nil
	}
	copied := tree.Clone(t).(tree.Tree)
	if m := copied.Object("metadata"); m != nil {
		for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
			delete(m, field)
		}
	}
	return copied
}

// maskPair replaces values of a Secret by markers that only show whether they differ.
func maskPair(before, after, a, b tree.Tree) {
	if a.String("kind") != "Secret" && b.String("kind") != "Secret" {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		for name, v := range a.Object(field) {
			a.Object(field)[name] = "***"
			if after != nil && fmt.Sprint(after.Object(field)[name]) != fmt.Sprint(v) {
				a.Object(field)[name] = "*** (before)"
			}
		}
		for name, v := range b.Object(field) {
			b.Object(field)[name] = "***"
			if before != nil && before.Object(field).Has(name) && fmt.Sprint(before.Object(field)[name]) != fmt.Sprint(v) {
				b.Object(field)[name] = "*** (after)"
			}
		}
	}
	for _, t := range []tree.Tree{a, b} {
		for name := range t.Object("metadata", "annotations") {
			if strings.HasSuffix(name, "/last-applied-configuration") {
				t.Object("metadata", "annotations")[name] = "***"
			}
		}
	}
}

// Colored adds terminal colors to a unified diff.
func Colored(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		color := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			color = "\x1b[1m"
		case strings.HasPrefix(line, "+"):
			color = "\x1b[32m"
		case strings.HasPrefix(line, "-"):
			color = "\x1b[31m"
		case strings.HasPrefix(line, "@@"):
			color = "\x1b[36m"
		}
		if color == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString(color + strings.TrimSuffix(line, "\n") + "\x1b[0m\n")
	}
	return b.String()
}
