package extension

import (
	"flag"
	"os"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

var configMap = client.ConfigMapText

var update = flag.Bool("update", false, "write the golden files of the selected tests")

func TestMain(m *testing.M) { os.Exit(client.Main(m)) }
