// Package kubeconfig reads client configurations (kubeconfigs): where a server is, whom it must prove to be, and what
// the client proves itself with. Everything in this project that connects to a server by such a file reads it here:
// the commands of troupe, package remote for webhooks, and the bench.
//
// # Files
//
// A file holds lists of clusters and users, and contexts that pair them; current-context says which pair counts. Of
// these are read
//
//	cluster  server, proxy-url, tls-server-name, insecure-skip-tls-verify, disable-compression,
//	         certificate-authority and certificate-authority-data, and of its extensions the one for plugins
//	user     client-certificate, client-key and their -data, token, tokenFile, username, password,
//	         as, as-uid, as-groups, as-user-extra, exec, auth-provider (oidc)
//	context  cluster, user, namespace
//
// Fields that end in -data hold base64 and win over the others, which name files, relative to the directory of the
// configuration file. Certificates and tokens in files are read anew whenever they are needed, so that replaced ones
// take effect.
//
// Rules say which files count. One that is named by a flag counts alone; else those of the variable KUBECONFIG, of
// which the first that says something is right, name by name, and missing ones are passed over; else ~/.kube/config;
// and without any of these, what a Pod finds in its container.
//
// # Credentials
//
// A Credential is what a user proves itself with. Where it comes from elsewhere, from a program (exec) or an identity
// provider (auth-provider), it is got when it is first needed, by one caller at a time, and kept until it expires, until a
// server answers 401, or until the process ends. A Transport takes care of that, and of a new handshake where the
// certificate is another than before.
//
// A program gets its arguments and its environment, to which the fields of env are added, and in the variable
// PLATFORM_EXEC_INFO, named as the profile of its apiVersion has it,
//
//	{"kind":"ExecCredential","apiVersion":"<that of the configuration>","spec":{"interactive":<stdin is a terminal for it>,
//	 "cluster":{"server","certificate-authority-data","tls-server-name","insecure-skip-tls-verify","proxy-url",
//	            "disable-compression","config":<the extension client.authentication.platform.io/exec of the cluster>}}}
//
// of which cluster is only there with provideClusterInfo. It answers on its standard output, with the same apiVersion,
//
//	{"kind":"ExecCredential","apiVersion":…,"status":{"token","clientCertificateData","clientKeyData","expirationTimestamp"}}
//
// in at most maxOutput bytes and within Programs.Timeout.
//
// Errors name the file and the field, and never hold its content, which may be secret.
package kubeconfig
