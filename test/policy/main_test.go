package policy

import (
	"os"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// Collection paths in the namespace default.
const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	pods       = "/api/v1/namespaces/default/pods"
)

var configMap = client.ConfigMapText

// TestMain runs the tests, or the credential plugin if a test has started the binary as one.
func TestMain(m *testing.M) {
	if dir := os.Getenv(pluginVariable); dir != "" {
		os.Exit(runPlugin(dir))
	}
	os.Exit(client.Main(m))
}
