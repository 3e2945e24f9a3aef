package policy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// A podPluginCluster is a daemon in which Pods are created.
type podPluginCluster struct{ profileSession }

func openPodPlugins(t *testing.T, profile string, change func(*daemon.Config)) podPluginCluster {
	return podPluginCluster{openProfile(t, profile, change)}
}

// post creates an object, in platform names, and returns the answer.
func (c podPluginCluster) post(code int, path, body string) string {
	c.T.Helper()
	return string(c.Send(code, http.MethodPost, c.named(path), client.JSON, c.named(body)).Body)
}

func (c podPluginCluster) namespace(name string) {
	c.T.Helper()
	c.post(201, "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"}}`)
}

// podOf is a Pod called name of a spec without the braces.
func podOf(name, spec string) string {
	if spec != "" {
		spec = "," + spec
	}
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"containers":[{"name":"c","image":"i"}]%s}}`, name, spec)
}

// shows fails unless an answer, in JSON, has what each path says, in platform names. A path is names and
// numbers with dots; "absent" is for none.
func (c podPluginCluster) shows(answer string, want map[string]string) {
	c.T.Helper()
	var object any
	client.Decode(c.T, answer, &object)
	for path, text := range want {
		got := "absent"
		if v := follow(object, c.named(path)); v != nil {
			encoded, _ := json.Marshal(v)
			got = string(encoded)
		}
		if got != c.named(text) {
			c.T.Errorf("%s: %s is %s, want %s", c.profile, path, got, c.named(text))
		}
	}
}

// follow finds the value at a path whose names are separated by "|".
func follow(v any, path string) any {
	for step := range strings.SplitSeq(path, "|") {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// refuses fails unless an object is refused with a text in the message.
func (c podPluginCluster) refuses(path, body, text string) {
	c.T.Helper()
	if answer := c.post(403, path, body); !strings.Contains(answer, c.named(strings.ReplaceAll(text, `"`, `\"`))) {
		c.T.Errorf("%s: %s, want %s", c.profile, answer, c.named(text))
	}
}
