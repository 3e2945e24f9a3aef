package server

import (
	"testing"

	"github.com/troupe-api/troupe/bench/internal/benchtest"
)

func TestMain(m *testing.M) { benchtest.Main(m, RunChild) }
