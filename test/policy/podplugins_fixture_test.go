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

// A profile is the names of one naming profile.
type profile struct {
	naming, domain, groups, short string
}

var podPluginProfiles = []profile{
	{"platform", "platform.io", "platform.io", "platform-"},
	{"kubernetes", "kubernetes.io", "k8s.io", "kube-"},
}

// names puts the names of the profile in place of those of the platform profile.
func (p profile) names(text string) string {
	return strings.NewReplacer("scheduling.platform.io", "scheduling."+p.groups, "/apis/node.platform.io", "/apis/node."+p.groups,
		`"node.platform.io/v1"`, `"node.`+p.groups+`/v1"`, "platform.io", p.domain, "platform-", p.short).Replace(text)
}

// podPluginCluster is a daemon of a profile.
type podPluginCluster struct {
	client.Session
	profile
}

func openPodPlugins(t *testing.T, p profile, change func(*daemon.Config)) podPluginCluster {
	return podPluginCluster{client.Open(t, func(c *daemon.Config) {
		c.Naming = p.naming
		if change != nil {
			change(c)
		}
	}), p}
}

// post creates an object, in platform names, and returns the answer.
func (c podPluginCluster) post(code int, path, body string) string {
	c.T.Helper()
	return string(c.Send(code, http.MethodPost, c.names(path), client.JSON, c.names(body)).Body)
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

const podPluginPods = "/api/v1/namespaces/default/pods"

// shows fails unless an answer, in JSON, has what each path says, in platform names. A path is names and
// numbers with dots; "absent" is for none.
func (c podPluginCluster) shows(answer string, want map[string]string) {
	c.T.Helper()
	var object any
	if err := json.Unmarshal([]byte(answer), &object); err != nil {
		c.T.Fatal(err)
	}
	for path, text := range want {
		got := "absent"
		if v := follow(object, c.names(path)); v != nil {
			encoded, _ := json.Marshal(v)
			got = string(encoded)
		}
		if got != c.names(text) {
			c.T.Errorf("%s: %s is %s, want %s", c.naming, path, got, c.names(text))
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
	if answer := c.post(403, path, body); !strings.Contains(answer, c.names(strings.ReplaceAll(text, `"`, `\"`))) {
		c.T.Errorf("%s: %s, want %s", c.naming, answer, c.names(text))
	}
}
