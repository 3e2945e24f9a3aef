package client

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// connectionFlags select the server and the user. They may precede or follow the command's name.
type connectionFlags struct {
	rules   kubeconfig.Rules
	timeout time.Duration
}

// defaultKubeconfig is the kubeconfig of a server started in the current directory.
const defaultKubeconfig = "troupe-data/admin.kubeconfig"

// add adds the flags. Several flag sets may share them.
func (f *connectionFlags) add(to *pflag.FlagSet) {
	o := &f.rules.Overrides
	to.StringVar(&f.rules.Path, "kubeconfig", f.rules.Path, "Kubeconfig file; the default is KUBECONFIG, ~/.kube/config, or "+defaultKubeconfig+".")
	to.StringVar(&f.rules.Context, "context", f.rules.Context, "Context of the kubeconfig file.")
	to.StringVar(&f.rules.Cluster, "cluster", f.rules.Cluster, "Cluster of the kubeconfig file.")
	to.StringVar(&f.rules.User, "user", f.rules.User, "User of the kubeconfig file.")
	to.StringVarP(&o.Namespace, "namespace", "n", o.Namespace, "Namespace; the default is that of the context.")
	to.StringVarP(&o.Server, "server", "s", o.Server, "URL of the server, such as https://127.0.0.1:6443.")
	to.StringVar(&o.Token, "token", o.Token, "Bearer token.")
	to.StringVar(&o.Certificate, "client-certificate", o.Certificate, "Client certificate file.")
	to.StringVar(&o.Key, "client-key", o.Key, "Client key file.")
	to.StringVar(&o.CertificateAuthority, "certificate-authority", o.CertificateAuthority, "CA certificate file for the server.")
	to.BoolVar(&o.Insecure, "insecure-skip-tls-verify", o.Insecure, "Do not verify the certificate of the server.")
	to.StringVar(&o.ServerName, "tls-server-name", o.ServerName, "Name to verify in the certificate of the server.")
	to.StringVar(&o.As, "as", o.As, "User to impersonate.")
	to.StringArrayVar(&o.AsGroups, "as-group", o.AsGroups, "Group to impersonate; may be repeated.")
	to.StringVar(&o.AsUID, "as-uid", o.AsUID, "UID to impersonate.")
	to.DurationVar(&f.timeout, "request-timeout", f.timeout, "Timeout of a single request; 0 means none.")
}
