package envtest

import (
	"context"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// ignored returns the kube-apiserver flags that the daemon does not support, except --version.
func ignored() *pflag.FlagSet {
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, f := range daemon.UnsupportedFlags() {
		if f.Controller || f.Name == versionFlag {
			continue
		}
		help := "Ignored. " + f.Reason
		switch f.Type { // values are checked like in kube-apiserver
		case "bool":
			set.Bool(f.Name, false, help)
		case "int":
			set.Int64(f.Name, 0, help)
		case "float":
			set.Float64(f.Name, 0, help)
		case "duration":
			set.Duration(f.Name, 0, help)
		default:
			set.StringArray(f.Name, nil, help)
		}
	}
	return set
}

// logIgnored logs each flag that was set but has no effect. It logs a warning if the value differs
// from the daemon's behavior.
func logIgnored(given *pflag.FlagSet, log *slog.Logger) {
	for _, f := range daemon.UnsupportedFlags() {
		flag := given.Lookup(f.Name)
		if flag == nil || !flag.Changed || f.Name == versionFlag {
			continue
		}
		level := slog.LevelWarn
		if f.Neutral == "*" || f.Neutral == flag.Value.String() {
			level = slog.LevelDebug
		}
		log.Log(context.Background(), level, "flag ignored", "flag", "--"+f.Name, "value", flag.Value.String(), "reason", f.Reason)
	}
}
