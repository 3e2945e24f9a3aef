//go:build tools

// Package binaries pins the programs of Kubernetes that clusters of tests are made of: go.mod names their versions, and
// build.sh builds them. This file keeps what the end-to-end suite needs in go.mod.
package binaries

import _ "k8s.io/kubernetes/test/e2e"
