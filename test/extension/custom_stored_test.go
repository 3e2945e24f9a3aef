package extension

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// full and narrow are schemas of the same CRD. written is an object as stored, and hidden is the
// same object as served under narrow.
const (
	full    = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"}}}}}}}`
	narrow  = `{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"d":{"type":"string","default":"D"}}}}}`
	hidden  = `{"spec":{"a":"x","d":"D"}}`
	written = `{"spec":{"a":"x","b":{"c":1}}}`
)

// views reads a widget with get, list and watch, and returns its spec from each response.
func (s customSession) views(name string) map[string]string {
	s.T.Helper()
	views := map[string]string{"get": part(s.read(name), "spec")}
	list, err := s.List(s.Ctx, widgets, url.Values{"fieldSelector": {"metadata.name=" + name}})
	if err != nil || len(list.Items) != 1 {
		s.T.Fatalf("list: %v, %v", list, err)
	}
	views["list"] = part(list.Items[0], "spec")
	w, err := s.Watch(s.Ctx, widgets, url.Values{"fieldSelector": {"metadata.name=" + name}})
	if err != nil {
		s.T.Fatal(err)
	}
	defer w.Close()
	event, err := w.Next()
	if err != nil {
		s.T.Fatal(err)
	}
	views["watch"] = part(event.Object, "spec")
	return views
}

// checkViews checks the resourceVersion of a widget, and its spec in every view.
func (s customSession) checkViews(when, name, want string, version uint64) {
	s.T.Helper()
	for view, got := range s.views(name) {
		s.check(when+", "+view, got, want)
	}
	if now := s.read(name).Version(); now != version {
		s.T.Errorf("%s: version %d, want %d", when, now, version)
	}
}

// TestStoredAsWritten removes a field from a schema and adds it again. The stored value must
// reappear, even after a kill, a restart and a snapshot. Only a write removes it.
func TestStoredAsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(c *daemon.Config) { c.DataDir, c.Snapshots.JournalBytes = dir, 1<<20 }
	s := serveCustom(t, on)
	s.define(customDefinition{schema: full})
	created := s.Send(201, "PATCH", widgets+"/a?fieldManager=m", customTypeApply, widget("a", `,"spec":{"a":"x","b":{"c":1}}`)).Object()
	version, managers := created.Version(), owners(created)
	s.create("b", `,"spec":{"a":"x","b":{"c":1}}`)
	s.updateDefinition(customDefinition{schema: narrow})
	s.checkViews("narrow", "a", hidden, version)
	if crashed := copyOf(t, dir); crashed != "" { // as after a kill
		other := serveCustom(t, func(c *daemon.Config) { c.DataDir = crashed })
		other.checkViews("after a kill", "a", hidden, version)
		other.updateDefinition(customDefinition{schema: full})
		other.checkViews("full after a kill", "a", written, version)
		other.Stop(t)
	}
	s.updateDefinition(customDefinition{schema: full})
	s.checkViews("full again", "a", written, version)
	s.check("owners", owners(s.read("a")), managers)
	s.updateDefinition(customDefinition{schema: narrow})
	for i := range 20 {
		s.Send(201, "POST", "/api/v1/namespaces/default/configmaps", client.JSON, fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"x":%q}}`, i, strings.Repeat("x", 60_000)))
	}
	s.awaitSnapshot()
	s.Stop(t)

	s = serveCustom(t, on)
	s.checkViews("from a snapshot", "a", hidden, version)
	same := s.Send(200, "PUT", widgets+"/b", client.JSON, s.read("b").String()).Object() // stores the object in its current form
	s.check("written again", part(same, "spec"), hidden)
	if s.read("b").Version() <= version {
		t.Error("an object that is stored in another form was not written")
	}
	s.updateDefinition(customDefinition{schema: full})
	s.checkViews("full from a snapshot", "a", written, version)
	s.checkViews("full after a write", "b", `{"spec":{"a":"x"}}`, same.Version())
}

func copyOf(t *testing.T, dir string) string {
	t.Helper()
	if client.OnEtcd() { // the state is not in the directory
		return ""
	}
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestWritesOfOutdated writes objects that were stored under an older schema. Every write must
// start from the object as served under the current schema. The result must be stored even after a
// no-op write.
func TestWritesOfOutdated(t *testing.T) {
	t.Parallel()
	s := serveCustom(t, nil)
	s.define(customDefinition{schema: full, more: `,"subresources":{"status":{}}`})
	names := []string{"merge", "json", "put", "apply", "status", "delete", "dry", "none"}
	for _, name := range names {
		s.Send(201, "PATCH", widgets+"/"+name+"?fieldManager=m", customTypeApply, widget(name, `,"spec":{"a":"x","b":{"c":1}}`))
	}
	s.updateDefinition(customDefinition{schema: narrow, more: `,"subresources":{"status":{}}`})
	before := map[string]uint64{}
	for _, name := range names {
		before[name] = s.read(name).Version()
	}
	for _, test := range []struct{ name, method, path, format, body string }{
		{"merge", "PATCH", "/merge", client.MergePatch, `{}`},
		{"json", "PATCH", "/json", client.JSONPatch, `[{"op":"test","path":"/spec/d","value":"D"}]`},
		{"put", "PUT", "/put", client.JSON, s.read("put").String()},
		{"apply", "PATCH", "/apply?fieldManager=m", customTypeApply, widget("apply", `,"spec":{"a":"x"}`)},
		{"status", "PATCH", "/status/status", client.MergePatch, `{}`},
		{"dry", "PATCH", "/dry?dryRun=All", client.MergePatch, `{"spec":{"a":"y"}}`},
	} {
		o := s.Send(200, test.method, widgets+test.path, test.format, test.body).Object()
		want := hidden
		if test.name == "dry" {
			want = strings.Replace(hidden, `"x"`, `"y"`, 1)
		}
		s.check(test.name, part(o, "spec"), want)
		if generation := o.Metadata()["generation"].(float64); generation != 1 && test.name != "dry" {
			t.Errorf("%s: generation %v: nothing that was seen has changed", test.name, generation)
		}
		if written := s.read(test.name).Version() > before[test.name]; written == (test.name == "dry") {
			t.Errorf("%s: written: %v", test.name, written)
		}
	}
	gone := s.Send(200, "DELETE", widgets+"/delete", "", "").Object()
	s.check("status of a delete", fmt.Sprint(gone["status"]), "Success")
	s.updateDefinition(customDefinition{schema: full, more: `,"subresources":{"status":{}}`})
	for _, name := range names {
		want := `{"spec":{"a":"x"}}`
		switch name {
		case "delete":
			continue
		case "dry", "none":
			want = written
		}
		s.check(name+" in full", part(s.read(name), "spec"), want)
	}
}

// TestSelectingOutdated checks that a field selector matches a default that is not stored, before
// and after a restart.
func TestSelectingOutdated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(c *daemon.Config) { c.DataDir = dir }
	s := serveCustom(t, on)
	s.define(customDefinition{schema: full, more: `,"selectableFields":[{"jsonPath":".spec.a"}]`})
	s.create("a", `,"spec":{"a":"x","b":{"c":1}}`)
	s.updateDefinition(customDefinition{schema: narrow, more: `,"selectableFields":[{"jsonPath":".spec.d"}]`})
	for range 2 {
		for selector, want := range map[string]int{"spec.d=D": 1, "spec.d=x": 0, "spec.d=": 0} {
			list, err := s.List(s.Ctx, widgets, url.Values{"fieldSelector": {selector}})
			if err != nil || len(list.Items) != want {
				t.Errorf("%s: %d, %v, want %d", selector, len(list.Items), err, want)
			}
		}
		s.Stop(t)
		s = serveCustom(t, on)
	}
}

// TestNumbersStay checks numbers in fields without a schema. The response to a write and all later
// reads must contain the same number, even after a restart.
func TestNumbersStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	on := func(c *daemon.Config) { c.DataDir = dir }
	s := serveCustom(t, on)
	s.define(customDefinition{})
	const numbers = `{"spec":[0,0,0,0,1,100,100000000000000000000,1e+21,1.5e-7,9223372036854775807,9223372036854776000]}`
	text := widget("a", `,"spec":[-0,-0.0,-0e5,0.0,1.0,1e2,1e20,1e21,1.5e-7,9223372036854775807,9223372036854775808]`)
	raw := func(body []byte) string {
		text := strings.TrimSuffix(string(body), "}\n")
		return text[strings.Index(text, `"spec":[`):]
	}
	written := s.Send(201, "POST", widgets, client.JSON, text).Body
	s.check("answer", "{"+raw(written)+"}", numbers)
	for range 2 {
		s.check("get", raw(s.Send(200, "GET", widgets+"/a", "", "").Body), raw(written))
		s.Stop(t)
		s = serveCustom(t, on)
	}
	patched := s.Send(200, "PATCH", widgets+"/a", client.JSONPatch, `[{"op":"add","path":"/spec/0","value":-0.0}]`).Body
	s.Stop(t)
	s = serveCustom(t, on)
	s.check("patched", raw(s.Send(200, "GET", widgets+"/a", "", "").Body), raw(patched))
}

// awaitSnapshot waits for a snapshot in the data directory. With etcd, which has none, it returns
// immediately.
func (s customSession) awaitSnapshot() {
	s.T.Helper()
	if client.OnEtcd() {
		return
	}
	s.until("there is a snapshot", func() bool {
		answer, err := s.Get(s.Ctx, "/metrics")
		return err == nil && !strings.Contains(answer.String(), "troupe_snapshot_bytes 0\n")
	})
}
