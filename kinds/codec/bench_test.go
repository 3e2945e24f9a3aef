package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const metadataJSON = `"metadata":{"name":"web-1","namespace":"default","uid":"6f1c2a7e-0000-4000-8000-000000000001",` +
	`"creationTimestamp":"2024-01-01T00:00:00Z","labels":{"app":"web","tier":"front"},"annotations":{"owner":"team-a"}}`

func configMapJSON() string {
	return `{"kind":"ConfigMap","apiVersion":"v1",` + metadataJSON + `,"data":{"a.conf":"` + strings.Repeat("key = value;", 40) +
		`","b.conf":"` + strings.Repeat("x", 260) + `"}}`
}

func podJSON() string {
	container := func(i int) string {
		return fmt.Sprintf(`{"name":"c%d","image":"registry.example.com/web:1.%d","args":["--port=80","--verbose"],`+
			`"ports":[{"name":"http","containerPort":80,"protocol":"TCP"}],"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],`+
			`"resources":{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"100m","memory":"64Mi"}},`+
			`"volumeMounts":[{"name":"data","mountPath":"/data"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080},"periodSeconds":10},`+
			`"imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log"}`, i, i)
	}
	return `{"kind":"Pod","apiVersion":"v1",` + metadataJSON + `,"spec":{"volumes":[{"name":"data","emptyDir":{}}],"containers":[` +
		container(1) + "," + container(2) + `],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",` +
		`"nodeName":"node-1","tolerations":[{"key":"node.example.com/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}]}}`
}

func kindNamed(tb testing.TB, name string) *schema.Kind {
	c, err := catalog.New(meta.Kubernetes)
	if err != nil {
		tb.Fatal(err)
	}
	return c.ByGVK(meta.GroupVersionKind{Version: "v1", Kind: name})
}

func TestManifestsRoundTrip(t *testing.T) {
	for name, text := range map[string]string{"ConfigMap": configMapJSON(), "Pod": podJSON()} {
		k := kindNamed(t, name)
		tree, faults, err := codec.DecodeJSON(k.Message(), []byte(text))
		if err != nil || faults != nil {
			t.Fatal(name, err, faults)
		}
		first := codec.EncodeJSON(k, tree)
		wire, err := codec.AppendProtobuf(nil, k.Message(), first.JSON)
		if err != nil {
			t.Fatal(name, err)
		}
		again, _, err := codec.DecodeProtobuf(k.Message(), wire)
		if err != nil {
			t.Fatal(name, err)
		}
		if second := codec.EncodeJSON(k, again); string(first.JSON) != string(second.JSON) {
			t.Errorf("%s:\n%s\n%s", name, first.JSON, second.JSON)
		}
		if got := string(first.JSON[k.ItemOffset() : k.ItemOffset()+10]); got != `"metadata"` {
			t.Errorf("%s: item begins with %s", name, got)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	for name, text := range map[string]string{"ConfigMap": configMapJSON(), "Pod": podJSON()} {
		k := kindNamed(b, name)
		data := []byte(text)
		object, _, err := codec.DecodeJSON(k.Message(), data)
		if err != nil {
			b.Fatal(err)
		}
		stored := codec.EncodeJSON(k, object).JSON
		metadata := object["metadata"].(tree.Tree)
		var key meta.Key
		key.Name, _ = metadata["name"].(string)
		key.Namespace, _ = metadata["namespace"].(string)
		if err := codec.ReadBack(k, key, stored); err != nil {
			b.Fatal(err)
		}
		wire, err := codec.AppendProtobuf(nil, k.Message(), stored)
		if err != nil {
			b.Fatal(err)
		}
		run := func(label string, f func()) {
			b.Run(name+"/"+label, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					f()
				}
			})
		}
		run("decode", func() { _, _, _ = codec.DecodeJSON(k.Message(), data) })
		run("conform", func() { _, _, _ = codec.Conform(k.Message(), object, nil) })
		run("encode", func() { codec.EncodeJSON(k, object) })
		run("newobject", func() { _, _ = codec.NewObject(k, key, 1, stored) })
		run("parsehead", func() { _, _, _ = codec.ParseMeta(k, stored) })
		run("readback", func() { _ = codec.ReadBack(k, key, stored) })
		run("protobuf-decode", func() { _, _, _ = codec.DecodeProtobuf(k.Message(), wire) })
		out := make([]byte, 0, len(data)*2)
		run("protobuf-from-json", func() { out, _ = codec.AppendProtobuf(out[:0], k.Message(), stored) })
		binary, err := codec.AppendCBOR(nil, k.Message(), stored)
		if err != nil {
			b.Fatal(err)
		}
		run("cbor-decode", func() { _, _, _ = codec.DecodeCBOR(k.Message(), binary, 1<<20) })
		run("cbor-from-json", func() { out, _ = codec.AppendCBOR(out[:0], k.Message(), stored) })
	}
}
