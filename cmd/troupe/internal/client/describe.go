package client

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/kinds/table"
	"github.com/troupe-api/troupe/kinds/tree"
)

type describeOptions struct {
	targetFlags
	ShowEvents bool
}

func (o *describeOptions) run(s *session, args []string) error {
	selections, _, err := s.selections(&o.targetFlags, args)
	if err != nil {
		return err
	}
	objects, err := s.findByPrefix(&o.targetFlags, selections)
	if len(objects) == 0 && err == nil {
		s.nothingFound(&getOptions{targetFlags: o.targetFlags}, selections)
	}
	for i, one := range objects {
		if i > 0 {
			s.printf("\n\n")
		}
		if err := s.describeObject(one, o.ShowEvents); err != nil {
			return err
		}
	}
	return err
}

// findByPrefix is like find, but if no object has exactly the given name, it returns all objects
// whose names begin with it.
func (s *session) findByPrefix(o *targetFlags, selections []selection) (all []object, err error) {
	var faults []error
	for _, one := range selections {
		found, err := s.find(o, []selection{one})
		if rest.IsNotFound(err) && len(found) == 0 && len(one.names) == 1 {
			alike, listErr := s.list(one.resource, one.namespace, o.query())
			if listErr != nil {
				return all, listErr
			}
			for _, a := range alike {
				if strings.HasPrefix(a.name(), one.names[0]) {
					found, err = append(found, a), nil
				}
			}
		}
		all, faults = append(all, found...), append(faults, err)
	}
	return all, errors.Join(faults...)
}

// describeObject prints the metadata, then all other fields, then the Events.
func (s *session) describeObject(o object, events bool) error {
	w := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	m := o.tree.Object("metadata")
	fmt.Fprintf(w, "Name:\t%s\n", printer.Safe(m.String("name")))
	if o.resource.Namespaced {
		fmt.Fprintf(w, "Namespace:\t%s\n", printer.Safe(m.String("namespace")))
	}
	describeMap(w, "Labels", m.Object("labels"), "=")
	describeMap(w, "Annotations", withoutApplied(m.Object("annotations")), ": ")
	fmt.Fprintf(w, "API Version:\t%s\nKind:\t%s\nMetadata:\n", o.resource.APIVersion(), o.resource.Kind)
	describeFields(w, without(m, "name", "namespace", "labels", "annotations", "managedFields"), 1)
	content := without(o.tree, "apiVersion", "kind", "metadata")
	if o.resource.Group == "" && o.resource.Kind == "Secret" {
		hideSecrets(content)
	}
	describeFields(w, content, 0)
	if events {
		s.describeEvents(w, o)
	}
	return w.Flush()
}

func withoutApplied(annotations tree.Tree) tree.Tree {
	shown := maps.Clone(annotations)
	maps.DeleteFunc(shown, func(name string, _ any) bool { return strings.HasSuffix(name, "/last-applied-configuration") })
	return shown
}

func without(t tree.Tree, fields ...string) tree.Tree {
	t = maps.Clone(t)
	for _, field := range fields {
		delete(t, field)
	}
	return t
}

func hideSecrets(content tree.Tree) {
	data := tree.Tree{}
	for name := range content.Object("data") {
		value := content.Object("data").String(name)
		data[name] = fmt.Sprintf("%d bytes", base64.StdEncoding.DecodedLen(len(value))-strings.Count(value, "="))
	}
	if len(data) > 0 {
		content["data"] = data
	}
}

func describeMap(w io.Writer, title string, values tree.Tree, between string) {
	if len(values) == 0 {
		fmt.Fprintf(w, "%s:\t<none>\n", title)
		return
	}
	for i, name := range values.SortedKeys() {
		if i > 0 {
			title = ""
		} else {
			title += ":"
		}
		fmt.Fprintf(w, "%s\t%s%s%s\n", title, printer.Safe(name), between, oneLine(values.String(name)))
	}
}

func oneLine(text string) string {
	const most = 200
	text = strings.TrimRight(text, "\n")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return printer.Safe(strings.ReplaceAll(text, "\n", `\n`))
}

func describeFields(w io.Writer, t tree.Tree, level int) {
	indent := strings.Repeat("  ", level)
	for _, name := range t.SortedKeys() {
		title := fieldTitle(name)
		switch v := t[name].(type) {
		case tree.Tree:
			fmt.Fprintf(w, "%s%s:\n", indent, title)
			describeFields(w, v, level+1)
		case []any:
			fmt.Fprintf(w, "%s%s:\n", indent, title)
			for _, item := range v {
				if inner, ok := item.(tree.Tree); ok {
					describeFields(w, inner, level+1)
				} else {
					fmt.Fprintf(w, "%s  %s\n", indent, scalar(item))
				}
			}
		default:
			describeScalar(w, indent, title, v)
		}
	}
}

func describeScalar(w io.Writer, indent, title string, v any) {
	text := scalar(v)
	if !strings.Contains(text, "\n") {
		fmt.Fprintf(w, "%s%s:\t%s\n", indent, title, text)
		return
	}
	fmt.Fprintf(w, "%s%s:\n", indent, title)
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprintf(w, "%s  %s\n", indent, strings.TrimRight(line, "\n"))
	}
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return printer.Safe(v)
	case nil:
		return "<nil>"
	}
	return string(document.JSON(v))
}

// fieldTitle splits a field name into words, as in "Creation Timestamp" for creationTimestamp. It
// leaves map keys with other characters unchanged.
func fieldTitle(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return printer.Safe(name)
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])):
			b.WriteByte(' ')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	switch b.String() {
	case "Uid":
		return "UID"
	case "Api Version":
		return "API Version"
	}
	return b.String()
}

func (s *session) describeEvents(w io.Writer, o object) {
	c, err := s.served()
	if err != nil {
		return
	}
	r, err := c.Own("", "events")
	if err != nil {
		return // the server has no Events
	}
	m := o.tree.Object("metadata")
	q := url.Values{"fieldSelector": {fmt.Sprintf("involvedObject.name=%s,involvedObject.kind=%s,involvedObject.uid=%s", m.String("name"), o.resource.Kind, m.String("uid"))}}
	namespace := m.String("namespace")
	events, err := s.list(r, namespace, q)
	switch {
	case err != nil:
		fmt.Fprintf(w, "Events:\t<not shown: %s>\n", strings.TrimPrefix(describe(err, ""), "Error from server "))
	case len(events) == 0:
		fmt.Fprintln(w, "Events:\t<none>")
	default:
		fmt.Fprintln(w, "Events:\n  Type\tReason\tAge\tFrom\tMessage\n  ----\t------\t----\t----\t-------")
		for _, e := range events {
			t := e.tree
			from := cmp.Or(t.Object("source").String("component"), t.String("reportingComponent"))
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", printer.Safe(t.String("type")), printer.Safe(t.String("reason")), eventAge(t), printer.Safe(from), oneLine(t.String("message")))
		}
	}
}

func eventAge(t tree.Tree) string {
	last := cmp.Or(t.String("lastTimestamp"), t.String("eventTime"))
	if n, _ := t.Int("count"); n > 1 {
		if first, err := time.Parse(time.RFC3339, t.String("firstTimestamp")); err == nil {
			return fmt.Sprintf("%s (x%d over %s)", table.Age(last, time.Now()), n, table.HumanDuration(time.Since(first)))
		}
	}
	return table.Age(last, time.Now())
}
