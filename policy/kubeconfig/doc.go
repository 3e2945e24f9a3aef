// Package kubeconfig reads client configuration files (kubeconfigs): where a server is, whom it must
// prove to be, and what the client proves itself with. Everything in this project that connects to
// a server by such a file reads it here: package remote for webhooks and the operator's commands,
// and the bench.
//
// A file holds lists of clusters and users, and contexts that pair them; current-context says which
// pair counts. Of these are read
//
//	cluster  server, proxy-url, tls-server-name, insecure-skip-tls-verify,
//	         certificate-authority and certificate-authority-data
//	user     client-certificate, client-key and their -data, token, tokenFile, username, password
//
// Fields that end in -data hold base64; the others name files, relative to the directory of the
// configuration file. Certificates and tokens in files are read anew whenever they are needed, so
// that replaced ones take effect. A user whose credential comes from a program (exec, auth-provider)
// is an error.
//
// Errors name the file and the field, and never hold its content, which may be secret.
package kubeconfig
