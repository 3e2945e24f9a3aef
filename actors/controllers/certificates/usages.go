package certificates

import (
	"crypto/x509"
	"fmt"
	"slices"
)

// keyUsages maps the API's names to key usages of RFC 5280, section 4.2.1.3. "signing" and "digital
// signature" are the same bit.
var keyUsages = map[string]x509.KeyUsage{
	"signing":            x509.KeyUsageDigitalSignature,
	digitalSignature:     x509.KeyUsageDigitalSignature,
	"content commitment": x509.KeyUsageContentCommitment,
	keyEncipherment:      x509.KeyUsageKeyEncipherment,
	"key agreement":      x509.KeyUsageKeyAgreement,
	"data encipherment":  x509.KeyUsageDataEncipherment,
	"cert sign":          x509.KeyUsageCertSign,
	"crl sign":           x509.KeyUsageCRLSign,
	"encipher only":      x509.KeyUsageEncipherOnly,
	"decipher only":      x509.KeyUsageDecipherOnly,
}

// extKeyUsages maps the API's names to extended key usages of RFC 5280, section 4.2.1.12. Two names
// map to email protection, so parseUsages removes duplicates.
var extKeyUsages = map[string]x509.ExtKeyUsage{
	"any":              x509.ExtKeyUsageAny,
	serverAuth:         x509.ExtKeyUsageServerAuth,
	clientAuth:         x509.ExtKeyUsageClientAuth,
	"code signing":     x509.ExtKeyUsageCodeSigning,
	"email protection": x509.ExtKeyUsageEmailProtection,
	"s/mime":           x509.ExtKeyUsageEmailProtection,
	"ipsec end system": x509.ExtKeyUsageIPSECEndSystem,
	"ipsec tunnel":     x509.ExtKeyUsageIPSECTunnel,
	"ipsec user":       x509.ExtKeyUsageIPSECUser,
	"timestamping":     x509.ExtKeyUsageTimeStamping,
	"ocsp signing":     x509.ExtKeyUsageOCSPSigning,
	"microsoft sgc":    x509.ExtKeyUsageMicrosoftServerGatedCrypto,
	"netscape sgc":     x509.ExtKeyUsageNetscapeServerGatedCrypto,
}

// parseUsages converts the API's usages to unique values in a fixed order. An unknown usage is an
// error, because the certificate would allow less than was approved.
func parseUsages(usages []string) (key x509.KeyUsage, ext []x509.ExtKeyUsage, err error) {
	for _, name := range usages {
		if u, ok := keyUsages[name]; ok {
			key |= u
		} else if u, ok := extKeyUsages[name]; ok {
			ext = append(ext, u)
		} else {
			return 0, nil, fmt.Errorf("unrecognized usage values: %q", name)
		}
	}
	slices.Sort(ext)
	return key, slices.Compact(ext), nil
}
