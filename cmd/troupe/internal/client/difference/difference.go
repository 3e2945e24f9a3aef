package difference

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Unified is the difference between two states as a unified diff of their YAML; "" if there is none. nil is an object that is not
// there. What only the server sets, and changes with each write, is left out, and values of secrets are masked.
func Unified(before, after tree.Tree, from, to string) string {
	a, b := masked(before), masked(after)
	if before == nil || after == nil { // what the server gives each object is no news
		for _, t := range []tree.Tree{a, b} {
			delete(t.Object("metadata"), "uid")
			delete(t.Object("metadata"), "creationTimestamp")
		}
	}
	maskPair(before, after, a, b)
	return udiff.Unified(from, to, text(a), text(b))
}

// Same tells whether two states differ in nothing but what each write changes. The version does not tell, as a dry run has none of its own.
func Same(before, after tree.Tree) bool { return tree.StrictEqual(masked(before), masked(after)) }

func text(t tree.Tree) string {
	if t == nil {
		return ""
	}
	return string(document.YAML(t))
}

// masked is a copy without what says nothing to people.
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

// maskPair replaces the values of a Secret by what says whether they differ, and no more.
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

// Colored adds the colors that terminals know to a unified diff.
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
