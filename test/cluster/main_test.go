package cluster

import (
	"os"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestMain(m *testing.M) { os.Exit(client.Main(m)) }

var built = client.NewShared(func() (programs, error) {
	dir, err := client.SharedDir()
	if err != nil {
		return programs{}, err
	}
	return build(dir, os.Getenv("TROUPE_CLUSTER") == "programs")
})
