package main

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestWallTime(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), walltime, "a")
}
