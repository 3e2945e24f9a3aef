package certs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Kubeconfig returns a kubeconfig for the server at url, with the user's certificate embedded. ca
// contains the trusted CAs in PEM.
func Kubeconfig(url string, ca []byte, user *Pair) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: troupe
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %[3]s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: troupe
  context:
    cluster: troupe
    user: %[3]s
current-context: troupe
`, url, base64Text(ca), quoted(user.Cert.Subject.CommonName), base64Text(user.CertPEM), base64Text(user.KeyPEM))
}

// quoted returns a string in quotes for YAML, because user names may contain colons.
func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(q)
}

func base64Text(pem []byte) string { return base64.StdEncoding.EncodeToString(pem) }

// ClusterKubeconfig returns a kubeconfig that contains only the server and its CA, but no user.
func ClusterKubeconfig(url string, ca []byte) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: %s
    server: %s
  name: ""
contexts: null
current-context: ""
kind: Config
users: null
`, base64Text(ca), url)
}
