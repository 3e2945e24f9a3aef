package table

import (
	"fmt"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func object(rest string) *meta.Object {
	const head = `{"kind":"Pod","apiVersion":"v1",`
	return &meta.Object{JSON: []byte(head + `"metadata":{"name":"x","labels":{"a":"}\"{"},"creationTimestamp":"2026-11-21T11:55:00Z"}` + rest + "}"), ItemOffset: len(head)}
}

func rowOf(o *meta.Object) *row {
	t := TableWriter{naming: meta.Kubernetes, options: TableOptions{Now: now}}
	return t.open(o)
}

func TestPartial(t *testing.T) {
	got := string(AppendPartial(nil, meta.Kubernetes, "v1", object(`,"data":{"a":"1"}`)))
	want := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","labels":{"a":"}\"{"},"creationTimestamp":"2026-11-21T11:55:00Z"}}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct{ rest, path, kind, want string }{
		{``, "metadata.name", "string", `"x"`},
		{``, "func:age", "string", `"5m"`},
		{``, "metadata.creationTimestamp", "date", `"5m"`},
		{``, "func:createdAt", "date", `"2026-11-21T11:55:00Z"`},
		{`,"data":{"a":"1"},"binaryData":{"b":""}`, "func:dataCount", "string", "2"},
		{``, "status.phase", "string", `"\u003cnone\u003e"`},
		{``, "status.replicas|0", "string", "0"},
		{``, "status.replicas", "integer", "null"},
		{`,"secrets":[{"name":"a"},{"name":"b"}]`, "func:join:secrets", "string", `"a,b"`},
		{`,"spec":{"selector":{"matchLabels":{"a":"b"}}}`, "func:selector", "string", `"a=b"`},
		{`,"lastTimestamp":"2026-11-21T11:59:00Z"`, "func:eventLastSeen", "string", `"60s"`},
		{`,"involvedObject":{"kind":"Pod","name":"p"}`, "func:eventObject", "string", `"pod/p"`},
		{`,"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}`, "func:podReady", "string", `"0/1"`},
		{`,"status":{"phase":"Running","containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"finishedAt":"2026-11-21T11:50:00Z"}}}]}`, "func:podRestarts", "string", `"2 (10m ago)"`},
		{`,"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}]}`, "func:podStatus", "string", `"ErrImagePull"`},
		{`,"spec":{"initContainers":[{"name":"i"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"running":{}}}]}`, "func:podStatus", "string", `"Init:0/1"`},
	} {
		o := object(c.rest)
		k := cellOf(&schema.Column{Path: c.path, Type: c.kind})
		if got := string(k.append(nil, rowOf(o))); got != c.want {
			t.Errorf("%s of %s = %s, want %s", c.path, c.rest, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	w := NewTableWriter(meta.Kubernetes, &schema.Kind{}, TableOptions{IncludeObject: IncludeNone})
	const head, row = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":`, `,"rows":[{"cells":["x","2026-11-21T11:55:00Z"],"object":null}]}`
	for i, columns := range []string{string(appendHeaders(nil, defaultColumns)), "null", "null"} {
		got := string(w.Next(nil, object(""), ListMeta{ResourceVersion: "7"}, now))
		if want := head + columns + row; got != want {
			t.Errorf("table %d: got %s, want %s", i, got, want)
		}
		if w.row.object != nil || w.row.json.Text() != nil {
			t.Error("the object is held")
		}
	}
	// Only the newest default class of a list is marked.
	var classes []*meta.Object
	for _, c := range [][3]string{
		{"a", "storageclass.kubernetes.io/is-default-class", "55"}, {"b", "storageclass.beta.kubernetes.io/is-default-class", "56"},
		{"c", "storageclass.kubernetes.io/is-default-class", "56"}, {"d", "other", "57"},
	} {
		classes = append(classes, &meta.Object{Key: meta.Key{Name: c[0]}, JSON: fmt.Appendf(nil, `{"metadata":{"name":%q,"annotations":{%q:"true"},"creationTimestamp":"2026-11-21T11:%s:00Z"}}`, c[0], c[1], c[2])})
	}
	column := cellOf(&schema.Column{Path: "func:newestDefault:storageclass.platform.io/is-default-class storageclass.beta.platform.io/is-default-class"})
	list := TableWriter{naming: meta.Kubernetes, options: TableOptions{List: classes}}
	for i, want := range []string{`"a"`, `"b (default)"`, `"c"`, `"d"`} {
		if got := string(column.append(nil, list.open(classes[i]))); got != want {
			t.Errorf("class %d: got %s, want %s", i, got, want)
		}
	}
}

func TestHumanDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 5 * time.Minute: "5m", 150 * time.Second: "2m30s", 76 * time.Hour: "3d4h", -5 * time.Second: "<invalid>", 9 * 24 * time.Hour: "9d",
	} {
		if got := HumanDuration(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}
