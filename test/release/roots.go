package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootsFile is where Go programs on Linux look for the CAs of the system first.
const rootsFile = "etc/ssl/certs/ca-certificates.crt"

// roots returns the public CAs of the image in PEM: those of Mozilla, in the version that go.mod
// pins, so that a release is reproducible. It omits CAs that Mozilla trusts only with constraints,
// which PEM cannot express.
func roots() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}
