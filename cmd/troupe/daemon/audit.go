package daemon

import "github.com/spf13/pflag"

// Audit is what is written down of requests.
type Audit struct{}

func (a *Audit) flags(f *pflag.FlagSet) {}

func (a Audit) validate(*faults) {}
