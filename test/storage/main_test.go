package storage

import (
	"os"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	secrets    = "/api/v1/namespaces/default/secrets"
)

var configMap = client.ConfigMapText

func TestMain(m *testing.M) { os.Exit(client.Main(m)) }
