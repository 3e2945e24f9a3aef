package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestVersionsShowOneRow checks that an object has the same table row in each version, even if a
// version lacks some displayed fields.
func TestVersionsShowOneRow(t *testing.T) {
	t.Parallel()
	a := serveRepresentation(t)
	const name, group = "/namespaces/default/horizontalpodautoscalers", "/apis/autoscaling/"
	scaler := `{"metadata":{"name":"h"},"spec":{"maxReplicas":9,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"metrics":[
		{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}},
		{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}]}}`
	if made, err := a.Create(t.Context(), group+"v2"+name, []byte(scaler)); err != nil || made.Code != http.StatusCreated {
		t.Fatal(made, err)
	}
	const table = client.JSON + ";as=Table;g=meta.k8s.io;v=v1"
	row := func(path string) []any {
		var got struct {
			Rows []struct {
				Cells  []any
				Object struct{ APIVersion string }
			}
		}
		if err := json.Unmarshal(a.get(t, path, table, client.JSON), &got); err != nil || len(got.Rows) != 1 {
			t.Fatalf("%s: %d rows, %v", path, len(got.Rows), err)
		}
		return got.Rows[0].Cells
	}
	want := row(group + "v2" + name)
	if want[2] != "memory: <unknown>/1Gi, cpu: <unknown>/70%" {
		t.Errorf("the targets are %v", want[2])
	}
	for _, path := range []string{"v1" + name, "v2beta2" + name, "v1" + name + "/h", "v2beta2" + name + "/h"} {
		if got := row(group + path); !reflect.DeepEqual(got[:6], want[:6]) {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
