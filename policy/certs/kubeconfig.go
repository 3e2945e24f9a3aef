package certs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Kubeconfig is the client configuration of a user for the server at url, with the certificates
// inside. ca is the PEM text of what the client is to trust.
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

// quoted is a text as YAML and JSON read it: the name of a user may hold anything, as system:node:a does.
func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always becomes JSON
	}
	return string(q)
}

func base64Text(pem []byte) string { return base64.StdEncoding.EncodeToString(pem) }

// ClusterKubeconfig is a client configuration that names no user: it says where the server is, and what to trust.
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
