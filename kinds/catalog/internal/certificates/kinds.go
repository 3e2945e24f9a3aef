package certificates

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds lists the kinds of certificates with their functions.
func Kinds(n *meta.Naming) []family.Kind {
	return []family.Kind{
		{Name: "certificates.platform.io/v1/CertificateSigningRequest", Rules: certificateRequestRules(n), Views: family.Views{
			"approval": {Write: writeApproval},
			"status":   {Write: writeCertificate},
		}},
		{Name: "certificates.platform.io/v1alpha1/ClusterTrustBundle", Rules: schema.Rules{ValidateServed: validateTrustBundle}, Conversion: sameForm()},
		{Name: "certificates.platform.io/v1beta1/ClusterTrustBundle", Rules: trustBundleRules()},
	}
}
