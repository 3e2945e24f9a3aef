package client

import (
	"time"

	"github.com/troupe-api/troupe/policy/kubeconfig"
)

// connectionFlags select the server and the user. They may precede or follow the command.
type connectionFlags struct {
	kubeconfig.Rules
	Kubeconfig     string
	RequestTimeout time.Duration
}

// rules returns the kubeconfig rules that the flags select. The fallback is the kubeconfig of a
// server that was started in the current directory.
func (f *connectionFlags) rules() kubeconfig.Rules {
	r := f.Rules
	r.Path, r.Fallback = f.Kubeconfig, "troupe-data/admin.kubeconfig"
	return r
}
