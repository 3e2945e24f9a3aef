package certificates

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// The signers that every cluster has, in platform form.
const (
	clientSigner     = "platform.io/apiserver-client"
	nodeClientSigner = "platform.io/apiserver-client-node"
	nodeServerSigner = "platform.io/node-serving"
	legacySigner     = "platform.io/legacy-unknown"
)

// The usages that policies name, in the spelling of the API.
const (
	digitalSignature = "digital signature"
	keyEncipherment  = "key encipherment"
	clientAuth       = "client auth"
	serverAuth       = "server auth"
)

// A signingPolicy tells why a signer does not sign a request; nil if it does. The messages are those that clients of
// the field know. Policies look at the request alone. Who asks, and whether they may, was decided when the request
// was approved.
type signingPolicy func(r *x509.CertificateRequest, usages []string) error

// policies are those of the signers, by name.
var policies = map[string]signingPolicy{
	clientSigner:     checkClient,
	nodeClientSigner: checkNodeClient,
	nodeServerSigner: checkNodeServer,
	legacySigner:     func(*x509.CertificateRequest, []string) error { return nil },
}

// checkClient leaves subjects to those who approve. That nobody becomes a member of system:masters is a matter of
// admission.
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

// checkNodeClient wants the subject of a node and no alternative names: the server takes the user from the subject,
// and other servers could take a name of another kind for an identity.
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

// checkNodeServer wants the subject of a node and the names or addresses under which it is reached. That they belong
// to the node is for those who approve to find out.
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

// altNames are how many alternative names of a type a request has.
type altNames struct {
	of    string
	count int
}

// checkNone refuses alternative names of some types. The first type of which there are any is named.
func checkNone(all ...altNames) error {
	for _, names := range all {
		if names.count > 0 {
			return fmt.Errorf("%s subjectAltNames are not allowed", names.of)
		}
	}
	return nil
}

// nodePrefix begins the user names of nodes.
const nodePrefix = "system:node:"

// checkNodeGroup wants the group of nodes and no other: each organization of the subject becomes a group of the user.
func checkNodeGroup(r *x509.CertificateRequest) error {
	if !slices.Equal(r.Subject.Organization, []string{authn.GroupNodes}) {
		return errors.New("subject organization is not system:nodes")
	}
	return nil
}

// checkNodeName wants the user name of a node. Which node it is makes no difference here.
func checkNodeName(r *x509.CertificateRequest) error {
	if !strings.HasPrefix(r.Subject.CommonName, nodePrefix) {
		return fmt.Errorf("subject common name does not begin with %s", nodePrefix)
	}
	return nil
}

// checkNodeUsages wants the usages of a node's certificate, no more and no less. Keys other than RSA cannot encipher
// keys, so that usage may be missing.
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
