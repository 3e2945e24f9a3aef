// Package kubeconfig reads kubeconfig files, for the troupe commands, webhooks and the bench.
//
// # Files
//
// These fields are supported:
//
//	cluster  server, proxy-url, tls-server-name, insecure-skip-tls-verify, disable-compression,
//	         certificate-authority, certificate-authority-data, and the exec plugin extension
//	user     client-certificate, client-key and their -data, token, tokenFile, username, password,
//	         as, as-uid, as-groups, as-user-extra, exec, auth-provider (oidc)
//	context  cluster, user, namespace
//
// Fields that end in -data are base64. They take precedence over the corresponding file names,
// which are relative to the kubeconfig's directory. Certificate and token files are read when they
// are needed, so that rotated credentials take effect.
//
// Rules select the files: the one given by a flag, those in KUBECONFIG, or ~/.kube/config. In
// KUBECONFIG, missing files are skipped, and the first definition of a name takes precedence. If
// there are no clusters, a process in a container uses its service account.
//
// # Credentials
//
// A Credential may come from a credential plugin (exec) or an identity provider (auth-provider). It
// is fetched on first use, shared by all callers, and kept until it expires or a server responds
// with 401. A Transport then replaces it, and opens new connections if the certificate changes.
//
// A plugin's environment contains the entries of env and the variable PLATFORM_EXEC_INFO, whose
// name depends on the naming profile of its apiVersion:
//
//	{"kind":"ExecCredential","apiVersion":"<as configured>",
//	 "spec":{"interactive":<stdin is a terminal for the plugin>,
//	 "cluster":{"server","certificate-authority-data","tls-server-name",
//	            "insecure-skip-tls-verify","proxy-url","disable-compression",
//	            "config":<cluster extension client.authentication.platform.io/exec>}}}
//
// The cluster field is present only with provideClusterInfo. The plugin writes to standard output,
// with the same apiVersion,
//
//	{"kind":"ExecCredential","apiVersion":…,"status":{"token","clientCertificateData",
//	 "clientKeyData","expirationTimestamp"}}
//
// in at most maxOutput bytes and within Programs.Timeout.
//
// Errors include the file and the field, but never their content, which may be secret.
package kubeconfig
