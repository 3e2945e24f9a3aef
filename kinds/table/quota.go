package table

import (
	"cmp"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsonpath"
)

// showQuota shows used/hard, as in "pods: 3/10, requests.cpu: 500m/2". If which is "limits", it
// shows only resources with the prefix "limits.", and otherwise only those without it.
func showQuota(r *row, which string) string {
	var parts []string
	used := r.json.At("status.used")
	for _, name := range r.json.At("status.hard").Keys() {
		if strings.HasPrefix(name, "limits.") != (which == "limits") {
			continue
		}
		amount := cmp.Or(jsonpath.Text(used.Field(name)), "0")
		parts = append(parts, name+": "+amount+"/"+jsonpath.Text(r.json.At("status.hard").Field(name)))
	}
	return strings.Join(parts, ", ")
}
