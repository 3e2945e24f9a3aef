package main

import (
	"testing"

	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"github.com/troupe-api/troupe/bench/internal/server"
)

func TestMain(m *testing.M) { benchtest.Main(m, server.RunChild) }
