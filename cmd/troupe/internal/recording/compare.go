package recording

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/difference"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/cmd/troupe/internal/plan"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// signature identifies the object and action of a write. All objects with the same generateName
// share signatures.
func (w *write) signature() string { return w.object().String() + " " + w.action() }

func (w *write) object() meta.Key {
	metadata := w.body.Object("metadata")
	key := w.Key
	if key.Name = cmp.Or(key.Name, metadata.String("name")); key.Name == "" && w.verb == "create" {
		key.Name = metadata.String("generateName") + "*"
	}
	return key
}

// action returns the verb and the subresource, such as "update of status".
func (w *write) action() string {
	if w.subresource == "" {
		return w.verb
	}
	return w.verb + " of " + w.subresource
}

// content returns the request body without values that differ in each run.
func (w *write) content() tree.Tree {
	if w.body == nil {
		return nil
	}
	t := tree.Clone(w.body).(tree.Tree)
	if w.subresource == "status" && t.Has("status") {
		t = tree.Tree{"apiVersion": t["apiVersion"], "kind": t["kind"], "metadata": tree.Tree{"name": w.Name}, "status": t["status"]}
	}
	for _, field := range []string{"managedFields", "creationTimestamp", "generation", "selfLink"} {
		delete(t.Object("metadata"), field)
	}
	return scrub(t).(tree.Tree)
}

// line returns a text that is equal for equal writes.
func (w *write) line() string { return w.signature() + string(document.JSON(w.content())) }

var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// scrub removes UIDs and resource versions, and replaces timestamps.
func scrub(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		delete(v, "uid")
		delete(v, "resourceVersion")
		for name := range v {
			v[name] = scrub(v[name])
		}
	case []any:
		for i := range v {
			v[i] = scrub(v[i])
		}
	case string:
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "(time)"
		}
		return uid.ReplaceAllString(v, "(uid)")
	}
	return v
}

type comparison struct {
	recorded, replayed []*write
}

// report compares the writes of each object. failed contains the writes that failed in the
// recording.
func report(path string, recorded, replayed []*write, failed map[string]bool) *plan.Report {
	var order []meta.Key
	objects, kinds := map[meta.Key]*comparison{}, map[meta.GroupResource]tree.Tree{}
	of := func(w *write) *comparison {
		key := w.object()
		if objects[key] == nil {
			objects[key] = &comparison{}
			order = append(order, key)
		}
		if w.result.Has("metadata") && w.subresource == "" && w.result.String("kind") != "Status" {
			kinds[key.GroupResource] = w.result
		}
		return objects[key]
	}
	for _, w := range recorded {
		c := of(w)
		c.recorded = append(c.recorded, w)
	}
	for _, w := range replayed {
		c := of(w)
		c.replayed = append(c.replayed, w)
	}
	r := &plan.Report{}
	for _, key := range order {
		c := objects[key]
		line, kind := 0, kinds[key.GroupResource]
		if len(c.recorded) > 0 {
			line = c.recorded[0].seq
		}
		r.Add(path, line, kind.String("apiVersion"), cmp.Or(kind.String("kind"), key.Resource), key.Namespace, key.Name, c.findings(failed)...)
	}
	return r
}

// findings returns the differences. It ignores a write that failed only in the recording. The
// server in this process would not reject it, because it has no quotas, policies or unrecorded
// objects.
func (c *comparison) findings(failed map[string]bool) (all []plan.Finding) {
	lines := func(writes []*write) (all []string) {
		for _, w := range writes {
			all = append(all, w.line())
		}
		return all
	}
	for _, d := range lcs.DiffLines(lines(c.recorded), lines(c.replayed)) {
		was, is := c.recorded[d.Start:d.End], c.replayed[d.ReplStart:d.ReplEnd]
		for i := range max(len(was), len(is)) {
			switch {
			case i < len(was) && i < len(is) && was[i].action() == is[i].action():
				all = append(all, finding("different", was[i], was[i].content(), is[i].content()))
				continue
			case i < len(was):
				all = append(all, finding("missing", was[i], was[i].content(), nil))
			}
			if i < len(is) && !failed[is[i].line()] {
				all = append(all, finding("additional", is[i], nil, is[i].content()))
			}
		}
	}
	return all
}

func finding(rule string, w *write, recorded, replayed tree.Tree) plan.Finding {
	f := plan.Finding{Level: "error", Rule: rule, Message: fmt.Sprintf("%s %s", rule, w.action())}
	if rule != "additional" {
		f.Line = w.seq
	}
	for _, t := range []tree.Tree{recorded, replayed} {
		if t != nil && w.isSecret() {
			t["kind"] = "Secret" // masks the values
		}
	}
	if diff := difference.Unified(recorded, replayed, "recorded", "replayed"); diff != "" {
		f.Message += "\n" + strings.TrimSuffix(diff, "\n")
	}
	return f
}
