package certificates

import (
	"github.com/troupe-api/troupe/kinds/schema"
)

// Kinds returns the group's kinds with their strategies.
func Kinds() []schema.Behavior {
	return []schema.Behavior{
		{Name: "certificates.platform.io/v1/CertificateSigningRequest", Strategy: certificateRequestStrategy{}, Views: schema.Views{
			"approval": {Write: writeApproval},
			"status":   {Write: writeCertificate},
		}},
		{Name: "certificates.platform.io/v1beta1/PodCertificateRequest", Strategy: schema.EmptyStatusOnCreate{}},
	}
}

// RuleFunctions contains the functions that declarative rules call by name.
var RuleFunctions = map[string]schema.CheckFunc{
	"certificateRequest": schema.TextCheck(func(text, path string, faults *schema.Faults) {
		if err := checkCertificateRequest(text); err != nil {
			faults.Invalid(path, text, err.Error())
		}
	}),
	"issuedCertificate": schema.TextCheck(func(text, path string, faults *schema.Faults) {
		if err := checkCertificates(text); err != nil {
			faults.Invalid(path, "<certificate data>", err.Error())
		}
	}),
}
