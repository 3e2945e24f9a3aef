package kinds_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// object returns a stored object of kind k. Version 0 represents a dry run.
func object(t *testing.T, k *schema.Kind, version uint64, text string) *meta.Object {
	t.Helper()
	tree, _, err := codec.DecodeJSON(k.Message(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e := codec.EncodeJSON(k, tree)
	o := &meta.Object{Key: meta.Key{Name: "a"}, Version: version, ItemOffset: k.ItemOffset(), JSON: e.Unversioned()}
	if version > 0 {
		o.JSON = e.WithVersion(version)
	}
	return o
}

func TestObject(t *testing.T) {
	c, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	v1, v2 := c.Kind("autoscaling", "v1", "horizontalpodautoscalers"), c.Kind("autoscaling", "v2", "horizontalpodautoscalers")
	deployments := c.Kind("apps", "v1", "deployments")
	const scaler = `{"metadata":{"name":"a"},"spec":{"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}]}}`
	for _, test := range []struct {
		name    string
		kind    *schema.Kind
		sub     string
		object  *meta.Object
		has     string
		lacking string
	}{
		{"another version", v1, "", object(t, v2, 7, scaler), `"resourceVersion":"7"`, "metrics"},
		{"its fields", v1, "", object(t, v2, 7, scaler), `"targetCPUUtilizationPercentage":70`, "averageUtilization"},
		{"a dry run", v1, "", object(t, v2, 0, scaler), `"maxReplicas":3`, "resourceVersion"},
		{"a scale", deployments, "scale", object(t, deployments, 8, `{"metadata":{"name":"a"},"spec":{"replicas":4,"selector":{"matchLabels":{"x":"y"}}}}`),
			`"status":{"replicas":0,"selector":"x=y"}`, "template"},
		{"the stored form", v2, "", object(t, v2, 9, scaler), `"averageUtilization":70`, "targetCPU"},
	} {
		got, err := convert.Object(test.kind, test.kind.Subresource(test.sub), test.object)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got.JSON), test.has) || strings.Contains(string(got.JSON), test.lacking) {
			t.Errorf("%s: %s should have %s and not %s", test.name, got.JSON, test.has, test.lacking)
		}
	}
}
