package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// maxTrustBundle limits the bundle size in bytes, because nodes mount bundles into Pods.
// maxTrustBundleFaults limits the reported errors, because a bundle may have a million invalid
// entries.
const (
	maxTrustBundle       = 1 << 20
	maxTrustBundleFaults = 16
)

type trustBundleStrategy struct{ schema.DefaultStrategy }

// ValidateServed validates a changed bundle. An unchanged bundle is accepted, so that labels can
// change even if X.509 parsing has become stricter.
func (trustBundleStrategy) ValidateServed(obj, old tree.Tree, faults *schema.Faults) {
	const path, omitted = "spec.trustBundle", "<value omitted>"
	text := obj.Object("spec").String("trustBundle")
	if old != nil && old.Object("spec").String("trustBundle") == text {
		return
	}
	if len(text) > maxTrustBundle {
		faults.TooLong(path, maxTrustBundle)
		return
	}
	for _, msg := range trustBundleFaults([]byte(text)) {
		faults.Invalid(path, omitted, msg)
	}
}

// trustBundleFaults returns the errors in a root certificate bundle. It checks for duplicates and
// an empty bundle only if every entry is valid.
func trustBundleFaults(text []byte) []string {
	var msgs []string
	places := map[string][]int{} // of each certificate
	var order []string
	i := 0
	for block, rest := pem.Decode(text); block != nil && len(msgs) < maxTrustBundleFaults; block, rest = pem.Decode(rest) {
		if msg := rootFault(block); msg != "" {
			msgs = append(msgs, fmt.Sprintf("entry %d %s", i, msg))
		}
		der := string(block.Bytes)
		if places[der] == nil {
			order = append(order, der)
		}
		places[der] = append(places[der], i)
		i++
	}
	switch {
	case len(msgs) > 0:
	case len(order) == 0:
		msgs = append(msgs, "at least one trust anchor must be provided")
	default:
		for _, der := range order {
			if at := places[der]; len(at) > 1 {
				msgs = append(msgs, fmt.Sprintf("duplicate trust anchor (indices %v)", at))
			}
		}
	}
	return msgs
}

// rootFault returns the reason why a PEM block is not a CA certificate, or "" if the block is
// valid.
func rootFault(block *pem.Block) string {
	if block.Type != "CERTIFICATE" {
		return "has bad block type: " + block.Type
	}
	if len(block.Headers) != 0 {
		return "has PEM block headers"
	}
	switch c, err := x509.ParseCertificate(block.Bytes); {
	case err != nil:
		return "does not parse as X.509"
	case !c.IsCA:
		return "does not have the CA bit set"
	case !c.BasicConstraintsValid:
		return "has invalid basic constraints"
	}
	return ""
}
