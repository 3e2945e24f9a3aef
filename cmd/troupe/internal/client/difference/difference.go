package difference

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Unified returns the unified YAML diff of two states, or "" if they are equal. A nil state is a
// missing object. The diff omits fields that every write changes, and masks the values of Secrets.
func Unified(before, after tree.Tree, from, to string) string {
	a, b := masked(before), masked(after)
	if before == nil || after == nil { // fields of a new object that the server sets
		for _, t := range []tree.Tree{a, b} {
			delete(t.Object("metadata"), "uid")
			delete(t.Object("metadata"), "creationTimestamp")
		}
	}
	if a.String("kind") == "Secret" || b.String("kind") == "Secret" {
		mask(a, after, "(before)")
		mask(b, before, "(after)")
	}
	// udiff.Unified compares characters, and may then report unchanged lines.
	old := text(a)
	diff, err := udiff.ToUnified(from, to, old, udiff.Lines(old, text(b)), udiff.DefaultContextLines)
	if err != nil {
		panic(err) // cannot happen: the edits were computed from this text
	}
	return diff
}

// Same reports whether two states are equal except for fields that every write changes. It ignores
// resource versions, which dry runs do not have.
func Same(before, after tree.Tree) bool { return tree.StrictEqual(masked(before), masked(after)) }

func text(t tree.Tree) string {
	if t == nil {
		return ""
	}
	return string(document.YAML(t))
}

// masked returns a copy without the fields that every write changes.
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

// mask replaces the values of a Secret with asterisks. It appends mark to values that differ in the
// other state.
func mask(t, other tree.Tree, mark string) {
	for _, field := range []string{"data", "stringData"} {
		values, others := t.Object(field), other.Object(field)
		for name, v := range values {
			values[name] = "***"
			if others.Has(name) && fmt.Sprint(others[name]) != fmt.Sprint(v) {
				values[name] = "*** " + mark
			}
		}
	}
	annotations := t.Annotations()
	for name := range annotations {
		if strings.HasSuffix(name, "/last-applied-configuration") {
			annotations[name] = "***"
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
