package certificates

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
)

// Kinds lists the kinds of certificates with their strategies.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "certificates.platform.io/v1/CertificateSigningRequest", Strategy: certificateRequestStrategy{legacySigner: n.Translate("platform.io/legacy-unknown")}, Views: family.Views{
			"approval": {Write: writeApproval},
			"status":   {Write: writeCertificate},
		}},
		{Name: "certificates.platform.io/v1alpha1/ClusterTrustBundle", Strategy: trustBundleAlphaStrategy{}},
		{Name: "certificates.platform.io/v1beta1/ClusterTrustBundle", Strategy: trustBundleStrategy{}},
	}
}
