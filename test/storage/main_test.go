package storage

import (
	"os"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestMain(m *testing.M) { os.Exit(client.Main(m)) }
