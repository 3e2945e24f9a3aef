package api

import (
	"os"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/test/client"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

var configMap = client.ConfigMapText

// TestMain enables CBOR in client-go, which reads its feature gates from the environment only once.
// Servers without CBOR respond in JSON.
func TestMain(m *testing.M) {
	for _, gate := range []string{"ClientsAllowCBOR", "ClientsPreferCBOR"} {
		if err := os.Setenv("KUBE_FEATURE_"+gate, "true"); err != nil {
			panic(err)
		}
	}
	os.Exit(client.Main(m))
}

func newCatalog(t testing.TB, naming *meta.Naming) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(naming)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
