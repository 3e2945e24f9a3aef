package certificates

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// Built-in signers, in the platform naming profile.
const (
	clientSigner     = "platform.io/apiserver-client"
	nodeClientSigner = "platform.io/apiserver-client-node"
	nodeServerSigner = "platform.io/node-serving"
	legacySigner     = "platform.io/legacy-unknown"
)

// Certificate usages, as spelled in the API.
const (
	digitalSignature = "digital signature"
	keyEncipherment  = "key encipherment"
	clientAuth       = "client auth"
	serverAuth       = "server auth"
)

// signingPolicy returns an error if the signer must reject a request. The error messages match
// those of Kubernetes. The approval has already checked the requester.
type signingPolicy func(r *x509.CertificateRequest, usages []string) error

var policies = map[string]signingPolicy{
	clientSigner:     checkClient,
	nodeClientSigner: checkNodeClient,
	nodeServerSigner: checkNodeServer,
	legacySigner:     func(*x509.CertificateRequest, []string) error { return nil },
}

// checkClient checks the usages of a client certificate. It accepts any subject, because admission
// already rejects requests for the group system:masters.
func checkClient(_ *x509.CertificateRequest, usages []string) error {
	for _, usage := range usages {
		if usage != clientAuth && usage != digitalSignature && usage != keyEncipherment {
			return fmt.Errorf("invalid usage for client certificate: %s", usage)
		}
	}
	if !slices.Contains(usages, clientAuth) {
		return fmt.Errorf("missing required usage for client certificate: %s", clientAuth)
	}
	return nil
}

// checkNodeClient requires a node's subject. It rejects subject alternative names, because other
// servers could interpret them as identities.
func checkNodeClient(r *x509.CertificateRequest, usages []string) error {
	if err := checkNodeGroup(r); err != nil {
		return err
	}
	err := checkNone(altNames{"DNS", len(r.DNSNames)}, altNames{"Email", len(r.EmailAddresses)}, altNames{"IP", len(r.IPAddresses)}, altNames{"URI", len(r.URIs)})
	if err != nil {
		return err
	}
	if err := checkNodeName(r); err != nil {
		return err
	}
	return checkNodeUsages(usages, clientAuth)
}

// checkNodeServer requires a node's subject and a DNS name or IP address. Approvers must check that
// these belong to the node.
func checkNodeServer(r *x509.CertificateRequest, usages []string) error {
	if err := checkNodeGroup(r); err != nil {
		return err
	}
	if len(r.DNSNames) == 0 && len(r.IPAddresses) == 0 {
		return errors.New("DNS or IP subjectAltName is required")
	}
	if err := checkNone(altNames{"Email", len(r.EmailAddresses)}, altNames{"URI", len(r.URIs)}); err != nil {
		return err
	}
	if err := checkNodeUsages(usages, serverAuth); err != nil {
		return err
	}
	return checkNodeName(r)
}

type altNames struct {
	of    string
	count int
}

func checkNone(all ...altNames) error {
	for _, names := range all {
		if names.count > 0 {
			return fmt.Errorf("%s subjectAltNames are not allowed", names.of)
		}
	}
	return nil
}

const nodePrefix = "system:node:"

// checkNodeGroup requires the nodes group as the only organization, because each organization in
// the subject becomes one of the user's groups.
func checkNodeGroup(r *x509.CertificateRequest) error {
	if !slices.Equal(r.Subject.Organization, []string{authn.GroupNodes}) {
		return errors.New("subject organization is not system:nodes")
	}
	return nil
}

func checkNodeName(r *x509.CertificateRequest) error {
	if !strings.HasPrefix(r.Subject.CommonName, nodePrefix) {
		return fmt.Errorf("subject common name does not begin with %s", nodePrefix)
	}
	return nil
}

// checkNodeUsages requires exactly the usages of a node certificate. Key encipherment is optional,
// because only RSA keys support it.
func checkNodeUsages(usages []string, purpose string) error {
	wanted := []string{purpose, digitalSignature, keyEncipherment}
	slices.Sort(wanted)
	got := slices.Clone(usages)
	slices.Sort(got)
	got = slices.Compact(got)
	bare := slices.DeleteFunc(slices.Clone(wanted), func(usage string) bool { return usage == keyEncipherment })
	if !slices.Equal(got, wanted) && !slices.Equal(got, bare) {
		return fmt.Errorf("usages did not match %v", wanted)
	}
	return nil
}
