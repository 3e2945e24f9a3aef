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

func (f *connectionFlags) rules() kubeconfig.Rules {
	r := f.Rules
	r.Path, r.Fallback = f.Kubeconfig, "troupe-data/admin.kubeconfig"
	return r
}
