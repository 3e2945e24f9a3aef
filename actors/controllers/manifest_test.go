package controllers

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/cases"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// A manifest is a test case. Files such as testdata/kills.txt document the format of its lines.
type manifest struct {
	name          string
	changes, done []string
}

func (m *manifest) controller() string {
	name, _, _ := strings.Cut(m.name, ",")
	return name
}

func readManifests(t *testing.T, path string) (all []manifest) {
	t.Helper()
	for _, c := range cases.Read(t, path) {
		i := slices.Index(c.Lines, "done")
		all = append(all, manifest{c.Name, c.Lines[:i], c.Lines[i+1:]})
	}
	return all
}

func (w *testStore) kindNamed(name string) *schema.Kind {
	w.t.Helper()
	all := w.kinds.StorageKinds()
	i := slices.IndexFunc(all, func(k *schema.Kind) bool { return k.Kind == name })
	if i < 0 {
		w.t.Fatalf("no kind %s", name)
	}
	return all[i]
}

// keyOf parses [NAMESPACE/]NAME. The namespace defaults to default.
func keyOf(k *schema.Kind, path string) meta.Key {
	namespace, name, ok := strings.Cut(path, "/")
	if !ok {
		namespace, name = "default", path
	}
	if !k.Namespaced {
		namespace = ""
	}
	return meta.Key{GroupResource: k.Storage, Namespace: namespace, Name: name}
}

var uidReference = regexp.MustCompile(`uid:(\w+)/([\w./-]+)`)

func (w *testStore) withUIDs(text string) string {
	return uidReference.ReplaceAllStringFunc(text, func(reference string) string {
		parts := uidReference.FindStringSubmatch(reference)
		k := w.kindNamed(parts[1])
		o, err := w.Get(context.Background(), request.Get{Kind: k, Key: keyOf(k, parts[2])})
		must.Succeed(w.t, err)
		return o.Meta.UID
	})
}

func (w *testStore) perform(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		f := strings.SplitN(line, " ", 4)
		n, err := strconv.Atoi(f[1])
		must.Succeed(w.t, err)
		kind, subresource, _ := strings.Cut(f[2], "/")
		for i := range n {
			rest := w.withUIDs(strings.ReplaceAll(f[3], "$", strconv.Itoa(i)))
			path, body, _ := strings.Cut(rest, " ")
			switch f[0] {
			case "create":
				w.make(kind, rest)
			case "patch":
				w.change(kind, path, subresource, request.Patch{Type: request.MergePatch, Body: []byte(body)})
			case "delete":
				w.change(kind, path, "", request.Delete{PropagationPolicy: body})
			default:
				w.t.Fatal(line)
			}
		}
	}
}

func (w *testStore) change(kind, path, subresource string, change request.Change) {
	w.t.Helper()
	k := w.kindNamed(kind)
	_, err := w.Mutate(context.Background(), request.Mutation{Kind: k, Key: keyOf(k, path), Subresource: subresource, Change: change})
	if err != nil {
		w.t.Fatalf("%s %s: %v", kind, path, err)
	}
}

// make creates an object from JSON and writes its status. The namespace defaults to default.
func (w *testStore) make(kind, text string) {
	w.t.Helper()
	object, _, err := codec.DecodeJSON(w.kindNamed(kind).Message(), []byte(text))
	must.Succeed(w.t, err)
	metadata := object.Object("metadata")
	path := metadata.String("name")
	if namespace := metadata.String("namespace"); namespace != "" {
		path = namespace + "/" + path
	}
	w.change(kind, path, "", request.Create{Object: object})
	if object.Has("status") {
		body, err := json.Marshal(tree.Tree{"status": object["status"]})
		must.Succeed(w.t, err)
		w.change(kind, path, "status", request.Patch{Type: request.MergePatch, Body: body})
	}
}

// count returns the number of objects of a kind whose JSON contains every text. A text with the
// prefix "!" must be absent instead.
func (w *testStore) count(kind string, texts ...string) (n int) {
	w.t.Helper()
	k := w.kindNamed(kind)
	list, err := w.List(context.Background(), request.List{Kind: k})
	must.Succeed(w.t, err)
	for _, o := range list.Items {
		object, err := codec.DecodeStored(k.Message(), o.JSON)
		must.Succeed(w.t, err)
		sorted, err := json.Marshal(object)
		must.Succeed(w.t, err)
		if !slices.ContainsFunc(texts, func(text string) bool {
			text, not := strings.CutPrefix(strings.ReplaceAll(text, "~", " "), "!")
			return strings.Contains(string(sorted), text) == not
		}) {
			n++
		}
	}
	return n
}

// isDone reports whether the counts in a manifest match the stored objects. It fails the test if a
// count can never match.
func (w *testStore) isDone(lines []string) bool {
	w.t.Helper()
	done := true
	for _, line := range lines {
		f := strings.Fields(w.withUIDs(line))
		when := f[0]
		if when == "finally" || when == "most" || when == "now" {
			f = f[1:]
		}
		want, err := strconv.Atoi(f[0])
		must.Succeed(w.t, err)
		n := w.count(f[1], f[2:]...)
		if n > want && when != "finally" || n != want && when == "now" {
			w.t.Fatalf("%d instead of %s", n, line)
		}
		done = done && (n == want || when == "most")
	}
	return done
}

// A script runs a case of testdata/controllers.txt. That file documents the format of its lines.
type script struct {
	*testStore
	fs   *vfs.Mem
	stop []func()
	kept []string // names and UIDs
}

func (s *script) open(t *testing.T) { s.testStore = openTestStore(t, s.fs) }

func (s *script) end() {
	for _, stop := range s.stop {
		stop()
	}
	s.stop = nil
	s.close()
}

// step executes the first line and returns the remaining ones. Consecutive lines with counts are
// executed together.
func (s *script) step(lines []string) []string {
	line := strings.NewReplacer(s.kept...).Replace(lines[0])
	switch verb, rest, _ := strings.Cut(line, " "); verb {
	case "start":
		s.stop = append(s.stop, runControllers(killed[rest](NewEnv(s, s.kinds, discardLogger), s.testStore)))
	case "restart":
		s.end()
		s.open(s.t)
	case "keep":
		name, path, _ := strings.Cut(rest, " ")
		s.kept = append(s.kept, "<"+name+">", s.withUIDs("uid:"+path))
	case "create", "patch", "delete":
		s.perform(line)
	case "now":
		s.isDone([]string{line})
	default:
		n := slices.IndexFunc(lines, func(line string) bool { return !countLine.MatchString(line) })
		if n < 0 {
			n = len(lines)
		}
		counts := strings.Split(strings.NewReplacer(s.kept...).Replace(strings.Join(lines[:n], "\n")), "\n")
		if !poll(func() bool { return s.isDone(counts) }) {
			s.t.Fatalf("in vain: %q", counts)
		}
		return lines[n:]
	}
	return lines[1:]
}

var countLine = regexp.MustCompile(`^(finally )?\d`)

func TestControllers(t *testing.T) {
	for _, c := range cases.Read(t, "testdata/controllers.txt") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			s := &script{fs: vfs.NewMem()}
			s.open(t)
			defer func() { s.end() }()
			for lines := c.Lines; len(lines) > 0; {
				lines = s.step(lines)
			}
		})
	}
}
