package extension

import (
	"flag"
	"os"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

var update = flag.Bool("update", false, "write the golden files of the selected tests")

func TestMain(m *testing.M) { os.Exit(client.Main(m)) }
