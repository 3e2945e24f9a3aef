//go:build tools

package binaries

import _ "k8s.io/kubernetes/test/e2e"
