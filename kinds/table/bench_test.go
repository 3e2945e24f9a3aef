package table_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/table"
)

func benchPod(i int) string {
	container := func(name string) string {
		return `{"name":"` + name + `","image":"registry.example.com/web:1.2","args":["--port=80","--verbose"],"ports":[{"name":"http","containerPort":80,"protocol":"TCP"}],` +
			`"env":[{"name":"A","value":"a \"quoted\" text"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],` +
			`"resources":{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"100m","memory":"64Mi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}],` +
			`"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}`
	}
	status := func(name string) string {
		return `{"name":"` + name + `","state":{"running":{"startedAt":"2026-11-21T11:55:10Z"}},"lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-11-21T11:50:00Z"}},` +
			`"ready":true,"restartCount":2,"image":"registry.example.com/web:1.2","imageID":"sha256:0"}`
	}
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-` + strconv.Itoa(i) + `","namespace":"default","uid":"6f1c2a7e-0000-4000-8000-000000000001","resourceVersion":"12345",` +
		`"creationTimestamp":"2026-11-21T11:55:00Z","labels":{"app":"web","tier":"front"},"annotations":{"owner":"team-a"},` +
		`"managedFields":[{"manager":"bench","operation":"Update","apiVersion":"v1","time":"2026-11-21T11:55:00Z","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c1\"}":{".":{},"f:image":{},"f:name":{}}}}}}]},` +
		`"spec":{"volumes":[{"name":"data","emptyDir":{}}],"containers":[` + container("c1") + "," + container("c2") + `],"restartPolicy":"Always","nodeName":"node-1"},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-21T11:55:20Z"}],"hostIP":"10.0.0.1","podIP":"10.1.0.7",` +
		`"podIPs":[{"ip":"10.1.0.7"}],"startTime":"2026-11-21T11:55:01Z","containerStatuses":[` + status("c1") + "," + status("c2") + `]}}`
}

const benchConfigMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings-1","namespace":"default","uid":"6f1c2a7e-0000-4000-8000-000000000001","resourceVersion":"12345",` +
	`"creationTimestamp":"2026-11-21T11:55:00Z","labels":{"app":"web","tier":"front"},"annotations":{"example.com/owner":"team-a"},` +
	`"managedFields":[{"manager":"bench","operation":"Update","apiVersion":"v1","time":"2026-11-21T11:55:00Z","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:data":{".":{},"f:key":{},"f:other":{}},"f:metadata":{"f:annotations":{".":{},"f:example.com/owner":{}},"f:labels":{".":{},"f:app":{},"f:tier":{}}}}}]},` +
	`"data":{"key":"value","other":"a somewhat longer value \\"in quotes\\" of a setting"}}`

func BenchmarkEvent(b *testing.B) {
	all, err := catalog.New(meta.Platform)
	if err != nil {
		b.Fatal(err)
	}
	for resource, text := range map[string]string{"configmaps": benchConfigMap, "pods": benchPod(1)} {
		k := all.Kind("", "v1", resource)
		o := &meta.Object{JSON: []byte(text), ItemOffset: k.ItemOffset()}
		now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		b.Run(resource, func(b *testing.B) {
			b.ReportAllocs()
			t := table.NewTableWriter(meta.Platform, k, table.TableOptions{})
			var out []byte
			for b.Loop() {
				out = t.Next(out[:0], o, table.ListMeta{ResourceVersion: "12345"}, now)
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	all, err := catalog.New(meta.Platform)
	if err != nil {
		b.Fatal(err)
	}
	k := all.Kind("", "v1", "pods")
	if k == nil {
		b.Fatal("no pods")
	}
	objects := make([]*meta.Object, 100)
	for i := range objects {
		objects[i] = &meta.Object{JSON: []byte(benchPod(i)), ItemOffset: k.ItemOffset()}
	}
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b.Run("table", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			table.Table(meta.Platform, k, objects, table.TableOptions{Now: now})
		}
	})
	b.Run("metadata", func(b *testing.B) {
		b.ReportAllocs()
		out := make([]byte, 0, 1<<20)
		for b.Loop() {
			out = out[:0]
			for _, o := range objects {
				out = table.AppendPartial(out, meta.Platform, "v1", o)
			}
		}
	})
}
